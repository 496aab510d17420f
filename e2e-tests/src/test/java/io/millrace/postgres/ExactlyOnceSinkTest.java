// SPDX-License-Identifier: Apache-2.0
package io.millrace.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.connectors.postgres.sink.PostgresSinks;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RecordingMetricReporter;
import io.millrace.services.SharedServices;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Locale;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.runtime.checkpoint.CompletedCheckpointStats;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that are added arrive once, whatever fails, and nothing else stays in the database. */
@ExtendWith(NothingHeldExtension.class)
class ExactlyOnceSinkTest {
  private static final long BATCHES = 1000;

  @RegisterExtension static final SharedServices services = new SharedServices();
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @TempDir Path folder;

  private Sql sql;

  @BeforeEach
  void connect() {
    sql = new Sql(services.database());
  }

  private void write(
      StreamExecutionEnvironment environment, String table, Failures<Long> failures) {
    PostgresSinks.write(
            NumberedRows.batches(environment, BATCHES, failures),
            NumberedRows.SCHEMA,
            PostgresJobs.sink(services.database(), table).build())
        .uid("sink");
  }

  private void assertEachRowOnce(String table) throws Exception {
    assertThat(NumberedRows.differences(sql, table, BATCHES)).isZero();
    assertThat(sql.stagedTables(table)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void aTaskFails(Failures.Point point) throws Exception {
    String table = "at_" + point.name().toLowerCase(Locale.ROOT);
    NumberedRows.createTable(sql, table);
    StreamExecutionEnvironment environment = PostgresJobs.restarting(flink, 2);
    Failures<Long> failures = new Failures<>();
    write(environment, table, failures);
    FlinkJob job = flink.submit(environment);
    for (int i = 0; i < 4; i++) {
      int before = failures.checkpoints();
      job.awaitUntil(() -> failures.checkpoints() >= before + 4);
      failures.failAt(point);
      job.awaitUntil(failures::haveHappened);
    }
    failures.hurry();
    job.await();
    assertEachRowOnce(table);
  }

  /** The trigger's sequence counts also the transactions that are rolled back. */
  @ParameterizedTest
  @ValueSource(strings = {"40001", "40P01", "57P03", "XX001"})
  void commitsFail(String state) throws Exception {
    String table = "commits_fail_" + state.toLowerCase(Locale.ROOT);
    NumberedRows.createTable(sql, table);
    failCommits(table, state, "nextval('" + table + "_count') % 3 = 1");
    StreamExecutionEnvironment environment = PostgresJobs.restarting(flink, 2);
    Failures<Long> failures = new Failures<>();
    write(environment, table, failures);
    FlinkJob job = flink.submit(environment);
    job.awaitUntil(() -> failures.checkpoints() >= 12);
    failures.hurry();
    job.await();
    assertEachRowOnce(table);
    assertThat(sql.number("SELECT last_value FROM " + table + "_count")).isGreaterThan(6);
  }

  private void failCommits(String table, String state, String condition) throws Exception {
    sql.execute(
        "CREATE SEQUENCE " + table + "_count",
        "CREATE FUNCTION "
            + table
            + "_fail() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF "
            + condition
            + " THEN RAISE 'as the test asked for' USING ERRCODE = '"
            + state
            + "'; END IF; RETURN NULL; END$$",
        "CREATE TRIGGER fail AFTER INSERT ON "
            + table
            + " FOR EACH STATEMENT EXECUTE FUNCTION "
            + table
            + "_fail()");
  }

  @Test
  void sessionsAreEnded() throws Exception {
    NumberedRows.createTable(sql, "sessions_end");
    StreamExecutionEnvironment environment = PostgresJobs.restarting(flink, 2);
    Failures<Long> failures = new Failures<>();
    write(environment, "sessions_end", failures);
    FlinkJob job = flink.submit(environment);
    for (int i = 0; i < 6; i++) {
      int before = failures.checkpoints();
      job.awaitUntil(() -> failures.checkpoints() >= before + 3);
      job.awaitUntil(() -> sql.endSessions() > 0);
    }
    failures.hurry();
    job.await();
    assertEachRowOnce("sessions_end");
  }

  @ParameterizedTest
  @CsvSource({"2, 3", "3, 1", "1, 2"})
  void savepointIsRestoredWithOtherParallelism(int before, int after) throws Exception {
    String table = "rescaled_" + before + "_" + after;
    NumberedRows.createTable(sql, table);
    StreamExecutionEnvironment first = PostgresJobs.environment(flink, before, new Configuration());
    Failures<Long> failures = new Failures<>();
    write(first, table, failures);
    FlinkJob job = flink.submit(first);
    job.awaitUntil(() -> failures.checkpoints() >= 4 * before && sql.count(table) > 0);
    String savepoint = job.stopWithSavepoint(folder);
    assertThat(sql.count(table)).isLessThan(BATCHES * NumberedRows.BATCH_ROWS);
    assertThat(sql.stagedTables(table)).isEmpty();

    restore(table, after, savepoint);
  }

  /** The checkpoint owns rows that were not committed; later rows belong to no checkpoint. */
  @ParameterizedTest
  @CsvSource({"2, 2", "2, 3", "3, 1"})
  void checkpointWithStagedRowsIsRestored(int before, int after) throws Exception {
    String table = "staged_" + before + "_" + after;
    NumberedRows.createTable(sql, table);
    failCommits(table, "XX001", "nextval('" + table + "_count') > 2");
    Configuration retained = new Configuration();
    retained.set(
        CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
        ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    retained.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    retained.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.toUri().toString());
    StreamExecutionEnvironment first = PostgresJobs.environment(flink, before, retained);
    Failures<Long> failures = new Failures<>();
    write(first, table, failures);
    FlinkJob job = flink.submit(first);
    assertThatThrownBy(job::await).hasMessageContaining("as the test asked for");
    assertThat(sql.stagedTables(table)).isNotEmpty();
    String checkpoint = ((CompletedCheckpointStats) job.lastCheckpoint()).getExternalPath();

    sql.execute("DROP TRIGGER fail ON " + table);
    // Made behind the checkpoint, by a task that has gone: nobody else knows of it.
    sql.execute(
        "INSERT INTO millrace_writers (sink, writer, subtask, restored_checkpoint) VALUES ('"
            + table
            + "', '0123456789abcdef', 5, 1000000)",
        "CREATE TABLE millrace_" + table + "_0123456789abcdef_0 (LIKE " + table + ")");
    restore(table, after, checkpoint);
  }

  private void restore(String table, int parallelism, String path) throws Exception {
    Configuration options = new Configuration();
    options.set(StateRecoveryOptions.SAVEPOINT_PATH, path);
    StreamExecutionEnvironment environment = PostgresJobs.environment(flink, parallelism, options);
    Failures<Long> failures = new Failures<>();
    write(environment, table, failures);
    FlinkJob job = flink.submit(environment);
    job.awaitUntil(() -> failures.checkpoints() >= 2 * parallelism);
    failures.hurry();
    job.await();
    assertEachRowOnce(table);
  }

  /** A process that the cluster has lost still has its session, and a transaction with a table. */
  @Test
  void olderSessionsAreEnded() throws Exception {
    NumberedRows.createTable(sql, "older");
    try (Connection older =
            DriverManager.getConnection(
                services.database().jdbcUrl() + "?ApplicationName=millrace%20sink%20older%200",
                services.database().user(),
                services.database().password());
        Statement statement = older.createStatement()) {
      older.setAutoCommit(false);
      statement.execute("CREATE TABLE millrace_older_0123456789abcdef_0 (LIKE older)");
      StreamExecutionEnvironment environment =
          PostgresJobs.environment(flink, 2, new Configuration());
      Failures<Long> failures = new Failures<>();
      failures.hurry();
      write(environment, "older", failures);
      flink.run(environment);
      assertThatThrownBy(older::commit).isInstanceOf(SQLException.class);
    }
    assertEachRowOnce("older");
    String job = "Flink Streaming Job";
    long rows = BATCHES * NumberedRows.BATCH_ROWS;
    assertThat(
            RecordingMetricReporter.count(job, "PostgreSQL public_older: Writer", "numRecordsSend"))
        .isEqualTo(rows);
    String committer = "PostgreSQL public_older: Committer";
    assertThat(RecordingMetricReporter.count(job, committer, "changedRows")).isEqualTo(rows);
    assertThat(RecordingMetricReporter.count(job, committer, "commits")).isPositive();
  }

  /** Without the note of what was committed, nobody can tell lost rows from committed ones. */
  @Test
  void lostStagedRowsFailTheJob() throws Exception {
    NumberedRows.createTable(sql, "lost_rows");
    failCommits("lost_rows", "XX001", "nextval('lost_rows_count') > 0");
    StreamExecutionEnvironment environment =
        PostgresJobs.environment(flink, 1, new Configuration());
    // The rows are dropped before the last attempt.
    Configuration restarts = new Configuration();
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 8);
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(300));
    environment.configure(restarts);
    write(environment, "lost_rows", new Failures<>());
    FlinkJob job = flink.submit(environment);
    job.awaitUntil(() -> attempts("lost_rows") > 0);
    for (String name : sql.stagedTables("lost_rows")) {
      sql.execute("DROP TABLE " + name);
    }
    assertThatThrownBy(job::await).hasMessageContaining("does not exist");
  }

  private long attempts(String table) throws SQLException {
    return sql.number("SELECT last_value - 1 + is_called::int FROM " + table + "_count");
  }
}
