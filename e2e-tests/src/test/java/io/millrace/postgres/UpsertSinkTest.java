// SPDX-License-Identifier: Apache-2.0
package io.millrace.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.postgres.sink.PostgresSinkOptions;
import io.millrace.connectors.postgres.sink.PostgresSinks;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.TableSourceOperator;
import io.millrace.services.SharedServices;
import io.millrace.testing.RandomExtension;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The last change of each key is what the table has, with both guarantees. */
@ExtendWith(NothingHeldExtension.class)
class UpsertSinkTest {
  private static final int BATCHES = 600;
  private static final int BATCH_ROWS = 9;
  private static final int KEYS = 40;
  private static final List<RowKind> KINDS = List.of(RowKind.values());
  private static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.INT32, false),
          new Field("Region", DataType.STRING, false),
          Field.of("total", DataType.INT64));
  private static final Schema CHANGES = RowKindColumn.addTo(ROWS);

  @RegisterExtension static final SharedServices services = new SharedServices();
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private Sql sql;

  @BeforeEach
  void connect() {
    sql = new Sql(services.database());
  }

  private void createTable(String name) throws Exception {
    sql.execute(
        "CREATE TABLE "
            + name
            + " (total bigint, \"Region\" varchar(20) NOT NULL, k integer NOT NULL,"
            + " touched integer NOT NULL DEFAULT 7, UNIQUE (k, \"Region\"))");
  }

  private PostgresSinkOptions.Builder options(String table, DeliveryGuarantee guarantee) {
    return PostgresJobs.sink(services.database(), table).keys("k", "Region").guarantee(guarantee);
  }

  /** The changes of a batch, which are the same each time that it is made. */
  private static List<List<Object>> changes(long seed, long batch, boolean withKinds) {
    Random random = new Random(seed * 31 + batch);
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < BATCH_ROWS; i++) {
      int key = random.nextInt(KEYS);
      // A number of its own for each change: a wrong order shows.
      Object total = random.nextInt(10) == 0 ? null : batch * BATCH_ROWS + i;
      RowKind kind = KINDS.get(random.nextInt(KINDS.size()));
      List<Object> row = new ArrayList<>(Arrays.asList(key, "r'\"" + key % 3, total));
      if (withKinds) {
        row.add(kind.toByteValue());
      }
      rows.add(row);
    }
    return rows;
  }

  /** The rows of the table, as text, that all changes together lead to. */
  private static List<String> expected(long seed, boolean withKinds) {
    Map<Integer, String> table = new TreeMap<>();
    for (long batch = 0; batch < BATCHES; batch++) {
      for (List<Object> row : changes(seed, batch, withKinds)) {
        int key = (Integer) row.get(0);
        boolean isDeleted =
            withKinds
                && (row.get(3).equals(RowKind.DELETE.toByteValue())
                    || row.get(3).equals(RowKind.UPDATE_BEFORE.toByteValue()));
        String total = row.get(2) == null ? "NULL" : row.get(2).toString();
        table.put(key, isDeleted ? "" : key + " r'\"" + key % 3 + " " + total + " 7");
      }
    }
    return table.values().stream().filter(row -> !row.isEmpty()).toList();
  }

  private List<String> rows(String table) throws Exception {
    return sql.strings(
        "SELECT concat_ws(' ', k, \"Region\", coalesce(total::text, 'NULL'), touched) FROM "
            + table
            + " ORDER BY k");
  }

  private void run(String table, DeliveryGuarantee guarantee, boolean withKinds) throws Exception {
    createTable(table);
    long seed = random.seed();
    StreamExecutionEnvironment environment = PostgresJobs.restarting(flink, 1);
    Failures<Long> failures = new Failures<>();
    DataStream<Long> numbers =
        environment.fromSequence(0, BATCHES - 1).map(failures).returns(Types.LONG);
    Schema schema = withKinds ? CHANGES : ROWS;
    PostgresSinks.write(
        TableSourceOperator.batches(numbers, schema, batch -> changes(seed, batch, withKinds)),
        schema,
        options(table, guarantee).build());
    FlinkJob job = flink.submit(environment);
    for (Failures.Point point : Failures.Point.values()) {
      int before = failures.checkpoints();
      job.awaitUntil(() -> failures.checkpoints() >= before + 3);
      failures.failAt(point);
      job.awaitUntil(failures::haveHappened);
    }
    failures.hurry();
    job.await();
    assertThat(rows(table)).isEqualTo(expected(seed, withKinds));
    assertThat(sql.stagedTables(table)).isEmpty();
  }

  private static String name(String prefix, DeliveryGuarantee guarantee) {
    return prefix + "_" + guarantee.name().toLowerCase(Locale.ROOT);
  }

  @ParameterizedTest
  @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
  void rowsReplaceEachOther(DeliveryGuarantee guarantee) throws Exception {
    run(name("upsert", guarantee), guarantee, false);
  }

  @ParameterizedTest
  @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
  void changelogsAlsoDelete(DeliveryGuarantee guarantee) throws Exception {
    run(name("change", guarantee), guarantee, true);
  }

  /** With nothing but keys there is nothing to set. */
  @Test
  void keysAlone() throws Exception {
    sql.execute("CREATE TABLE keys_alone (k integer PRIMARY KEY)");
    Schema schema = Schema.of(new Field("k", DataType.INT32, false));
    StreamExecutionEnvironment environment = flink.environment(2);
    PostgresSinks.write(
        TableSourceOperator.batches(
            environment.fromSequence(0, 99), schema, i -> List.of(List.of((int) i % 10))),
        schema,
        PostgresJobs.sink(services.database(), "keys_alone")
            .keys("k")
            .guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
            .build());
    flink.run(environment);
    assertThat(sql.strings("SELECT k FROM keys_alone ORDER BY k"))
        .containsExactly("0", "1", "2", "3", "4", "5", "6", "7", "8", "9");
  }

  @Test
  void changelogsNeedKeys() {
    StreamExecutionEnvironment environment = flink.environment(1);
    assertThatThrownBy(
            () ->
                PostgresSinks.write(
                    TableSourceOperator.batches(
                        environment.fromSequence(0, 0), CHANGES, i -> List.of()),
                    CHANGES,
                    PostgresJobs.sink(services.database(), "no_keys").build()))
        .hasMessage(
            "the stream is a changelog, whose rows replace others: key columns are missing");
    assertThatThrownBy(
            () ->
                PostgresJobs.sink(services.database(), "no_keys")
                    .guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
                    .build())
        .hasMessageContaining("AT_LEAST_ONCE needs key columns");
  }
}
