// SPDX-License-Identifier: Apache-2.0
package io.millrace.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.postgres.sink.PostgresSinks;
import io.millrace.connectors.postgres.source.PostgresSourceOptions;
import io.millrace.connectors.postgres.source.PostgresSources;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.services.SharedServices;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each row of a table once, in ranges of any key, over failures and restores. */
@ExtendWith(NothingHeldExtension.class)
class SnapshotSourceTest {
  private static final int ROWS = 5000;
  private static final Schema SCHEMA =
      Schema.of(new Field("id", DataType.INT64, false), Field.of("name", DataType.STRING));

  @RegisterExtension static final SharedServices services = new SharedServices();
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @TempDir Path folder;

  private Sql sql;

  @BeforeEach
  void connect() {
    sql = new Sql(services.database());
  }

  private PostgresSourceOptions options(String table, String key) {
    return PostgresSourceOptions.of(
        PostgresJobs.connection(services.database()), "public", table, key);
  }

  private List<List<Object>> read(PostgresSourceOptions options, Schema schema) throws Exception {
    StreamExecutionEnvironment environment = flink.environment(2);
    BatchCollector collector = new BatchCollector();
    collector.collect(PostgresSources.snapshot(environment, options, schema, "source"));
    flink.run(environment);
    return collector.rows();
  }

  /** Keys of several types, in an order of their own, with gaps. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "bigint; i * 3 - 7000",
        "smallint; i - 2500",
        "bigint; CASE i WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807 ELSE i END",
        "text; 'key \"' || md5(i::text) || chr(39) || '\\ \u0131'",
        "uuid; md5(i::text)::uuid",
        "timestamp with time zone; timestamptz '1999-12-31 23:59:59.999999Z' + i * interval '1 h'",
        "numeric; i / 7.0::numeric",
        "double precision; i / 7.0::float8"
      })
  void rangesOfKeys(String type, String key) throws Exception {
    sql.execute(
        "DROP TABLE IF EXISTS keyed_source",
        "CREATE TABLE keyed_source (\"the key\" " + type + " PRIMARY KEY, id integer, name text)",
        "INSERT INTO keyed_source SELECT "
            + key
            + ", i, nullif('name ' || i, 'name 5') FROM generate_series(0, "
            + (ROWS - 1)
            + ") AS i ORDER BY md5(i::text)");
    PostgresSourceOptions options =
        options("keyed_source", "the key").withSplits(9).withBatchRows(100);
    assertEachRow(read(options, SCHEMA), ROWS);
    assertThat(read(options.withFilter("id % 10 = 3 OR id < 0"), SCHEMA))
        .hasSize(ROWS / 10)
        .allSatisfy(row -> assertThat((Long) row.get(0) % 10).isEqualTo(3));
    assertThat(read(options.withFilter("false"), SCHEMA)).isEmpty();
  }

  private static void assertEachRow(List<List<Object>> rows, int count) {
    assertThat(rows).hasSize(count);
    assertThat(rows.stream().map(row -> row.get(0)).distinct()).hasSize(count);
    assertThat(rows)
        .allSatisfy(
            row ->
                assertThat(row.get(1))
                    .isEqualTo(row.get(0).equals(5L) ? null : "name " + row.get(0)));
  }

  /** Transfers between accounts while they are read: at each moment the sum is the same. */
  @Test
  void allRangesSeeOneMoment() throws Exception {
    sql.execute(
        "CREATE TABLE accounts (id integer PRIMARY KEY, amount numeric(20, 2) NOT NULL)",
        "INSERT INTO accounts SELECT i, 100 FROM generate_series(0, 1999) AS i");
    AtomicBoolean isOver = new AtomicBoolean();
    Thread transfers =
        new Thread(
            () -> {
              for (int i = 0; !isOver.get(); i++) {
                transfer(i % 2000, (i * 7 + 1000) % 2000);
              }
            });
    transfers.start();
    try {
      Schema schema = Schema.of(new Field("amount", DataType.decimal(20, 2), false));
      PostgresSourceOptions options = options("accounts", "id").withSplits(20).withBatchRows(10);
      for (int i = 0; i < 3; i++) {
        assertThat(
                read(options, schema).stream()
                    .map(row -> (BigDecimal) row.get(0))
                    .reduce(BigDecimal.ZERO, BigDecimal::add))
            .isEqualByComparingTo("200000");
      }
    } finally {
      isOver.set(true);
      transfers.join();
    }
    assertThat(sql.number("SELECT count(*) FROM accounts WHERE amount <> 100")).isPositive();
  }

  private void transfer(int from, int to) {
    try {
      sql.execute(
          "UPDATE accounts SET amount = amount + CASE id WHEN "
              + from
              + " THEN -1 ELSE 1 END WHERE id IN ("
              + from
              + ", "
              + to
              + ") AND "
              + from
              + " <> "
              + to);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A table of numbered rows with a key of its own, and an empty copy that takes doubled rows. */
  private void createNumbered(String table, String type, String key) throws Exception {
    sql.execute(
        "CREATE TABLE " + table + " (key " + type + " PRIMARY KEY, id bigint, name text)",
        "INSERT INTO "
            + table
            + " SELECT "
            + key
            + ", i, 'name ' || i FROM generate_series(0, "
            + (ROWS * NumberedRows.BATCH_ROWS - 1)
            + ") AS i");
    NumberedRows.createTable(sql, table + "_copy");
  }

  private void copy(
      StreamExecutionEnvironment environment, String table, Failures<ColumnBatch> failures) {
    DataStream<ColumnBatch> batches =
        PostgresSources.snapshot(
            environment,
            options(table, "key").withSplits(5).withBatchRows(50),
            NumberedRows.SCHEMA,
            "source");
    PostgresSinks.write(
            batches.map(failures).returns(batches.getType()).uid("failures"),
            NumberedRows.SCHEMA,
            PostgresJobs.sink(services.database(), table + "_copy").build())
        .uid("sink");
  }

  @ParameterizedTest
  @CsvSource({"bigint, i", "text, md5(i::text)", "char(32), md5(i::text)"})
  void failuresLoseAndDoubleNothing(String type, String key) throws Exception {
    String table = "failing_" + type.replaceAll("\\W", "_");
    createNumbered(table, type, key);
    StreamExecutionEnvironment environment = PostgresJobs.restarting(flink, 2);
    Failures<ColumnBatch> failures = new Failures<>();
    copy(environment, table, failures);
    FlinkJob job = flink.submit(environment);
    for (Failures.Point point : Failures.Point.values()) {
      int before = failures.checkpoints();
      job.awaitUntil(() -> failures.checkpoints() >= before + 3);
      failures.failAt(point);
      job.awaitUntil(failures::haveHappened);
    }
    failures.hurry();
    job.await();
    assertThat(NumberedRows.differences(sql, table + "_copy", ROWS)).isZero();
  }

  @ParameterizedTest
  @CsvSource({"2, 3", "3, 1"})
  void savepointIsRestoredWithOtherParallelism(int before, int after) throws Exception {
    String table = "read_" + before + "_" + after;
    createNumbered(table, "bigint", "i");
    StreamExecutionEnvironment first = PostgresJobs.environment(flink, before, new Configuration());
    Failures<ColumnBatch> slow = new Failures<>();
    copy(first, table, slow);
    FlinkJob job = flink.submit(first);
    job.awaitUntil(() -> slow.checkpoints() >= 3 * before && sql.count(table + "_copy") > 0);
    String savepoint = job.stopWithSavepoint(folder);
    assertThat(sql.count(table + "_copy")).isLessThan(ROWS * NumberedRows.BATCH_ROWS);

    Configuration restore = new Configuration();
    restore.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    StreamExecutionEnvironment second = PostgresJobs.environment(flink, after, restore);
    Failures<ColumnBatch> fast = new Failures<>();
    fast.hurry();
    copy(second, table, fast);
    flink.run(second);
    assertThat(NumberedRows.differences(sql, table + "_copy", ROWS)).isZero();
  }

  @Test
  void theKeyTellsRows() throws Exception {
    sql.execute("CREATE TABLE unkeyed_source (id bigint, nr integer NOT NULL, name text)");
    String start = "the table public.unkeyed_source cannot be read by ";
    assertThatThrownBy(() -> read(options("unkeyed_source", "id"), SCHEMA))
        .hasMessageContaining(start + "'id': column 'id': a key, and not NOT NULL in the table");
    assertThatThrownBy(() -> read(options("unkeyed_source", "nr"), SCHEMA))
        .hasMessageContaining(
            start + "'nr': the table has no unique index on exactly the key columns nr");
    assertThatThrownBy(() -> read(options("unkeyed_source", "x"), SCHEMA))
        .hasMessageContaining(start + "'x': there is no column 'x'");
  }
}
