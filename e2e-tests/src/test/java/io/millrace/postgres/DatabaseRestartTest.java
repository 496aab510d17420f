// SPDX-License-Identifier: Apache-2.0
package io.millrace.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.connectors.postgres.sink.PostgresSinkOptions;
import io.millrace.connectors.postgres.sink.PostgresSinks;
import io.millrace.connectors.postgres.source.PostgresSourceOptions;
import io.millrace.connectors.postgres.source.PostgresSources;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.services.Database;
import io.millrace.services.Services;
import io.millrace.testing.RandomExtension;
import java.sql.SQLException;
import java.util.List;
import java.util.Random;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A database that is killed, paused and started again, while rows are staged and committed. */
@ExtendWith(NothingHeldExtension.class)
class DatabaseRestartTest {
  private static final long BATCHES = 6000;
  private static final int ROUNDS = Integer.getInteger("millrace.postgres.rounds", 6);

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private Database database;
  private Sql sql;

  @BeforeEach
  void start() throws Exception {
    database = Services.startDatabase();
    sql = new Sql(database);
  }

  @AfterEach
  void stop() throws Exception {
    if (database != null) {
      database.close();
    }
  }

  private FlinkJob submit(Failures<Long> failures, PostgresSinkOptions options) throws Exception {
    StreamExecutionEnvironment environment = PostgresJobs.restarting(flink, 2);
    PostgresSinks.write(
        NumberedRows.batches(environment, BATCHES, failures), NumberedRows.SCHEMA, options);
    return flink.submit(environment);
  }

  private enum Fault {
    KILL,
    KILL_WHILE_COMMITTING,
    PAUSE,
    END_SESSIONS,
    FAIL_TASK
  }

  /** Commits take 20 ms, so that most faults meet one. */
  @ParameterizedTest
  @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
  void anyFaults(DeliveryGuarantee guarantee) throws Exception {
    NumberedRows.createTable(sql, "any_faults");
    sql.execute("ALTER TABLE any_faults ADD UNIQUE (id)", slowCommits());
    sql.execute(
        "CREATE TRIGGER slow AFTER INSERT ON any_faults FOR EACH STATEMENT EXECUTE FUNCTION"
            + " slow()");
    if (guarantee == DeliveryGuarantee.EXACTLY_ONCE) {
      // Takes doubled rows, which would fail commits otherwise.
      sql.execute("ALTER TABLE any_faults DROP CONSTRAINT any_faults_id_key");
    }
    PostgresSinkOptions.Builder options =
        PostgresJobs.sink(database, "any_faults").guarantee(guarantee);
    if (guarantee == DeliveryGuarantee.AT_LEAST_ONCE) {
      options.keys("id");
    }
    Failures<Long> failures = new Failures<>();
    FlinkJob job = submit(failures, options.build());
    for (int round = 0; round < ROUNDS; round++) {
      int before = failures.checkpoints();
      job.awaitUntil(() -> failures.checkpoints() >= before + 2);
      List<Fault> faults = List.of(Fault.values());
      Fault fault = faults.get(random.random().nextInt(faults.size()));
      System.out.println("round " + round + ", seed " + random.seed() + ": " + fault);
      inject(fault, failures, job);
    }
    failures.hurry();
    sql.execute("DROP TRIGGER slow ON any_faults");
    job.await();
    assertThat(NumberedRows.differences(sql, "any_faults", BATCHES)).isZero();
    assertThat(sql.stagedTables("any_faults")).isEmpty();
  }

  private static String slowCommits() {
    return "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS"
        + " $$BEGIN PERFORM pg_sleep(0.02); RETURN NULL; END$$";
  }

  private void inject(Fault fault, Failures<Long> failures, FlinkJob job) throws Exception {
    Random numbers = random.random();
    switch (fault) {
      case KILL -> restart();
      case KILL_WHILE_COMMITTING -> {
        job.awaitUntil(this::isCommitting);
        restart();
      }
      case PAUSE -> {
        database.pause();
        Thread.sleep(numbers.nextInt(300));
        database.resume();
      }
      case END_SESSIONS -> sql.endSessions();
      case FAIL_TASK -> {
        List<Failures.Point> points = List.of(Failures.Point.values());
        failures.failAt(points.get(numbers.nextInt(points.size())));
        job.awaitUntil(failures::haveHappened);
      }
    }
  }

  private void restart() throws Exception {
    database.kill();
    database.start();
  }

  private boolean isCommitting() {
    try {
      return sql.number(
              "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
                  + " AND application_name LIKE 'millrace%'")
          > 0;
    } catch (SQLException e) {
      return false;
    }
  }

  /** The commit is repeated when the database is back; the job's restart strategy is not asked. */
  @Test
  void commitOutlivesRestart() throws Exception {
    NumberedRows.createTable(sql, "one_commit");
    sql.execute(
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS"
            + " $$BEGIN PERFORM pg_sleep(1); RETURN NULL; END$$",
        "CREATE TRIGGER slow AFTER INSERT ON one_commit FOR EACH STATEMENT EXECUTE FUNCTION slow()");
    StreamExecutionEnvironment environment = flink.environment(1);
    Failures<Long> failures = new Failures<>();
    failures.hurry();
    PostgresSinks.write(
        NumberedRows.batches(environment, 10, failures),
        NumberedRows.SCHEMA,
        PostgresJobs.sink(database, "one_commit").build());
    FlinkJob job = flink.submit(environment);
    job.awaitUntil(this::isCommitting);
    restart();
    job.await();
    assertThat(NumberedRows.differences(sql, "one_commit", 10)).isZero();
    assertThat(sql.stagedTables("one_commit")).isEmpty();
  }

  /** The snapshot ends with the database: what is left is read as it is then. */
  @Test
  void readingOutlivesRestart() throws Exception {
    long batches = 3000;
    NumberedRows.createTable(sql, "read_from");
    sql.execute(
        "ALTER TABLE read_from ADD PRIMARY KEY (id)",
        "INSERT INTO read_from (id, name) SELECT i, 'name ' || i FROM generate_series(0, "
            + (batches * NumberedRows.BATCH_ROWS - 1)
            + ") AS i");
    NumberedRows.createTable(sql, "read_to");
    StreamExecutionEnvironment environment = PostgresJobs.restarting(flink, 2);
    Failures<ColumnBatch> failures = new Failures<>();
    DataStream<ColumnBatch> read =
        PostgresSources.snapshot(
            environment,
            PostgresSourceOptions.of(PostgresJobs.connection(database), "public", "read_from", "id")
                .withSplits(8)
                .withBatchRows(20),
            NumberedRows.SCHEMA,
            "source");
    PostgresSinks.write(
        read.map(failures).returns(read.getType()),
        NumberedRows.SCHEMA,
        PostgresJobs.sink(database, "read_to").build());
    FlinkJob job = flink.submit(environment);
    for (int i = 0; i < 2; i++) {
      int before = failures.checkpoints();
      job.awaitUntil(() -> failures.checkpoints() >= before + 4);
      restart();
    }
    failures.hurry();
    job.await();
    assertThat(NumberedRows.differences(sql, "read_to", batches)).isZero();
  }
}
