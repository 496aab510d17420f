// SPDX-License-Identifier: Apache-2.0
package io.millrace.postgres;

import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.postgres.PostgresConnectionOptions;
import io.millrace.connectors.postgres.dimension.PostgresDimension;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.lookup.Lookup;
import io.millrace.operators.lookup.RefreshOptions;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RecordingMetricReporter;
import io.millrace.services.Database;
import io.millrace.services.Services;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Lookups in a table of a database that changes, goes away and comes back. */
@ExtendWith(NothingHeldExtension.class)
class DimensionTest {
  private static final int KEYS = 10;
  private static final long BATCHES = 10_000;
  private static final Schema COLUMNS =
      Schema.of(
          new Field("key", DataType.INT64, false),
          Field.of("label", DataType.STRING),
          Field.of("price", DataType.decimal(12, 2)));
  private static final RefreshOptions OFTEN = RefreshOptions.every(Duration.ofMillis(20));

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private final BatchCollector collector = new BatchCollector();
  private final Failures<Long> pace = new Failures<>();
  private Database database;
  private Sql sql;

  @BeforeEach
  void start() throws Exception {
    database = Services.startDatabase();
    sql = new Sql(database);
    sql.execute(
        "CREATE TABLE labels (key bigint, label text, price numeric)",
        "INSERT INTO labels SELECT i, 'first label of ' || i, i / 4.0 FROM generate_series(0, "
            + (KEYS - 2)
            + ") AS i",
        "INSERT INTO labels VALUES (NULL, 'of no key', 1), (NULL, 'of no key', 2)");
  }

  @AfterEach
  void stop() throws Exception {
    if (database != null) {
      database.close();
    }
  }

  private PostgresDimension labels() {
    return PostgresDimension.ofTable(
            PostgresJobs.connection(database), "public", "labels", COLUMNS, "key")
        .withRefresh(OFTEN);
  }

  private FlinkJob submit(StreamExecutionEnvironment environment, PostgresDimension labels)
      throws Exception {
    ColumnStream rows =
        ColumnStream.fromBatches(NumberedRows.batches(environment, BATCHES, pace))
            .select(col("id"), col("id").mod(KEYS).cast(DataType.INT64).as("digit"))
            .lookup(Lookup.outer(labels, "digit"));
    collector.collect(rows.toBatches());
    return flink.submit(environment);
  }

  /** The labels of rows with a digit, in the order in which the rows came. */
  private List<Object> labels(long digit) {
    return collector.rows().stream()
        .filter(row -> row.get(1).equals(digit))
        .map(row -> row.get(2))
        .toList();
  }

  private void awaitLabel(FlinkJob job, long digit, String label) throws Exception {
    job.awaitUntil(() -> labels(digit).contains(label));
  }

  private static long gauge(String name) {
    return RecordingMetricReporter.gauges("lookup." + name).stream()
        .mapToLong(gauge -> (Long) gauge.getValue())
        .max()
        .orElse(-1);
  }

  @Test
  void rowsFollowTheTableWhileItChangesAndWhileTheDatabaseIsDown() throws Exception {
    FlinkJob job = submit(flink.environment(2), labels());
    awaitLabel(job, 3, "first label of 3");
    sql.execute("UPDATE labels SET label = 'second label', price = NULL WHERE key = 3");
    awaitLabel(job, 3, "second label");
    sql.execute("DELETE FROM labels WHERE key = 4");
    awaitLabel(job, 4, null);

    database.kill();
    long failures = gauge("refreshFailures");
    job.awaitUntil(() -> gauge("refreshFailures") >= failures + 2);
    int before = collector.rows().size();
    job.awaitUntil(() -> collector.rows().size() > before + 1000);
    assertThat(gauge("lastRefreshAgeMillis")).isPositive();
    assertThat(gauge("dimensionRows")).isEqualTo(KEYS - 2);

    database.start();
    sql.execute("UPDATE labels SET label = 'third label' WHERE key = 3");
    awaitLabel(job, 3, "third label");
    pace.hurry();
    job.await();
    assertThat(collector.rows())
        .hasSize((int) BATCHES * NumberedRows.BATCH_ROWS)
        .allSatisfy(
            row -> {
              long digit = (Long) row.get(0) % KEYS;
              assertThat(row.get(1)).isEqualTo(digit);
              if (digit == KEYS - 1) {
                assertThat(row.subList(2, 4)).containsOnlyNulls();
              } else if (digit != 3 && digit != 4) {
                assertThat(row.get(2)).isEqualTo("first label of " + digit);
                assertThat((BigDecimal) row.get(3)).isEqualByComparingTo(digit / 4.0 + "");
              }
            });
    assertThat(labels(3)).containsOnly("first label of 3", "second label", "third label");
  }

  @Test
  void queriesAndSeveralKeys() throws Exception {
    pace.hurry();
    StreamExecutionEnvironment environment = flink.environment(1);
    Schema columns =
        Schema.of(
            new Field("half", DataType.INT64, false),
            new Field("text", DataType.STRING, false),
            new Field("n", DataType.INT32, false));
    PostgresDimension numbers =
        PostgresDimension.ofQuery(
            PostgresJobs.connection(database),
            "numbers",
            "SELECT i / 2 AS half, 'name ' || i AS text, i AS n FROM generate_series(0, 99) AS i",
            columns,
            "text",
            "half");
    collector.collect(
        ColumnStream.fromBatches(NumberedRows.batches(environment, 20, pace))
            .withColumn("h", col("id").dividedBy(2).cast(DataType.INT64))
            .lookup(Lookup.inner(numbers, "name", "h"))
            .select(col("id"), col("n"))
            .toBatches());
    flink.run(environment);
    assertThat(collector.rows()).hasSize(100);
    assertThat(collector.rows())
        .allSatisfy(row -> assertThat(((Number) row.get(1)).longValue()).isEqualTo(row.get(0)));
  }

  @Test
  void aKeyThatTwoRowsHaveFailsTheJob() throws Exception {
    sql.execute("INSERT INTO labels VALUES (3, 'another', 1)");
    pace.hurry();
    FlinkJob job = submit(flink.environment(1), labels());
    assertThatThrownBy(job::await)
        .hasMessageContaining(
            "the dimension table public.labels cannot be read: expected a row for each key [key],"
                + " got "
                + KEYS
                + " rows with "
                + (KEYS - 1)
                + " different keys");
  }

  @Test
  void aTableOlderThanAllowedFailsTheJob() throws Exception {
    PostgresDimension labels = labels().withRefresh(OFTEN.withMaxAge(Duration.ofMillis(200)));
    FlinkJob job = submit(flink.environment(1), labels);
    awaitLabel(job, 3, "first label of 3");
    database.kill();
    assertThatThrownBy(job::await)
        .hasMessageContaining("the dimension table public.labels was read ")
        .hasMessageContaining("; the last refresh failed: ");
  }

  /** A read that waits for the database does not keep a canceled job. */
  @Test
  void cancelingEndsAReadThatWaits() throws Exception {
    PostgresConnectionOptions connection = PostgresJobs.connection(database);
    PostgresDimension slow =
        PostgresDimension.ofQuery(
            connection,
            "slow",
            "SELECT key, label, price FROM labels, pg_sleep(600)",
            COLUMNS,
            "key");
    FlinkJob job = submit(flink.environment(1), slow);
    String sleeping =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'millrace dimension'"
            + " AND wait_event = 'PgSleep'";
    while (sql.number(sleeping) == 0) {
      Thread.sleep(5);
    }
    job.cancel();
    assertThat(collector.rows()).isEmpty();
  }
}
