// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.Device;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.deduplicate.DeduplicateOperator;
import io.millrace.operators.deduplicate.Deduplication;
import io.millrace.operators.deduplicate.Deduplication.Keep;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.testing.RandomExtension;
import java.nio.ByteBuffer;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamNode;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.types.DataType;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The first and the last rows of keys are those of stock Flink SQL by processing time, and by an
 * event time of rows that come out of order, some at the same time. One subtask reads the rows and
 * one keeps them, so that both see them in one order.
 */
class DeduplicateParityTest {
  private static final int QUERIES_PER_JOB = 25;
  private static final int MAX_BATCH_ROWS = 70;
  private static final String EVENT_TIME = "t";
  private static final LocalDateTime FIRST_TIME = LocalDateTime.of(2026, 3, 1, 12, 0);
  private static final int EVENT_TIMES = 30;

  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** A query over random rows and its changes. */
  private record Case(RandomGroupBy query, CollectedRows flinkChanges, CollectedRows changes) {}

  @ParameterizedTest
  @EnumSource
  void keptRowsAreFlinks(Keep keep) throws Exception {
    compare(new Deduplication(keep));
  }

  @ParameterizedTest
  @EnumSource
  void keptRowsByEventTimeAreFlinks(Keep keep) throws Exception {
    compare(new Deduplication(keep).by(EVENT_TIME));
  }

  private void compare(Deduplication deduplication) throws Exception {
    Random numbers = random.random();
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(1);
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    List<Case> cases = new ArrayList<>();
    for (int i = 0; i < QUERIES_PER_JOB; i++) {
      RandomGroupBy query = withEventTimes(RandomGroupBy.of(numbers, false, false), numbers);
      int batchRows = 1 + numbers.nextInt(MAX_BATCH_ROWS);
      cases.add(add(query, deduplication, environment, tables, batchRows));
    }
    assertThat(deduplicateOperators(environment)).isEqualTo(QUERIES_PER_JOB);
    environment.execute();
    for (Case compared : cases) {
      List<Row> flinks = compared.flinkChanges().take();
      List<Row> changes = compared.changes().take();
      List<String> keys = compared.query().keys();
      assertThat(replayed(changes, keys.size()))
          .as("rows of %s with seed %d", compared.query().schema(), random.seed())
          .isEqualTo(replayed(flinks, keys.size()));
      if (!deduplication.isChangelog()) {
        assertThat(changes.stream().map(DeduplicateParityTest::comparable).toList())
            .as("rows in their order with seed %d", random.seed())
            .isEqualTo(flinks.stream().map(DeduplicateParityTest::comparable).toList());
      }
    }
    assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
    assertThat(DeviceContext.heldBytes(Device.current())).as("bytes held").isZero();
  }

  private static RandomGroupBy withEventTimes(RandomGroupBy query, Random numbers) {
    List<Field> fields = new ArrayList<>(query.schema().fields());
    fields.add(new Field(EVENT_TIME, io.millrace.column.DataType.timestamp(3), false));
    List<Row> rows = new ArrayList<>();
    for (Row row : query.rows()) {
      LocalDateTime time = FIRST_TIME.plusSeconds(numbers.nextInt(EVENT_TIMES));
      rows.add(Row.join(row, Row.of(time)));
    }
    return new RandomGroupBy(
        new Schema(fields), rows, false, query.keys(), query.aggregates(), query.averages());
  }

  private static Case add(
      RandomGroupBy query,
      Deduplication deduplication,
      StreamExecutionEnvironment environment,
      StreamTableEnvironment tables,
      int batchRows) {
    DataStream<Row> rows =
        environment.fromData(query.rows(), ExternalRowDecoder.typeInformation(query.schema()));
    ColumnStream millrace =
        ColumnStream.from(WatermarkEvery.appendTo(rows, batchRows), query.schema())
            .batch(BatchOptions.DEFAULT.withRows(batchRows, batchRows))
            .keyBy(query.keys().toArray(String[]::new))
            .deduplicate(deduplication);
    Table flink = flink(query, deduplication, rows, tables);
    assertThat(flink.explain())
        .contains(deduplication.toString())
        .contains(deduplication.column() == null ? "order=[PROCTIME]" : "order=[ROWTIME]");
    return new Case(
        query,
        CollectedRows.of(tables.toChangelogStream(flink)),
        CollectedRows.of(millrace.toRows()));
  }

  private static Table flink(
      RandomGroupBy query,
      Deduplication deduplication,
      DataStream<Row> rows,
      StreamTableEnvironment tables) {
    Schema schema = query.schema();
    org.apache.flink.table.api.Schema.Builder columns =
        org.apache.flink.table.api.Schema.newBuilder();
    List<DataType> types = SchemaConverter.toDataType(schema).getChildren();
    for (int i = 0; i < types.size(); i++) {
      columns.column(schema.field(i).name(), types.get(i));
    }
    columns.columnByExpression("arrival", "PROCTIME()");
    columns.watermark(EVENT_TIME, EVENT_TIME + " - INTERVAL '1' DAY");
    tables.createTemporaryView("t", tables.fromDataStream(rows, columns.build()));
    String names = quoted(schema.names());
    Table result =
        tables.sqlQuery(
            "SELECT "
                + names
                + " FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY "
                + quoted(query.keys())
                + " ORDER BY "
                + (deduplication.column() == null ? "arrival" : EVENT_TIME)
                + (deduplication.keep() == Keep.FIRST ? "" : " DESC")
                + ") AS number FROM t) WHERE number = 1");
    tables.dropTemporaryView("t");
    return result;
  }

  private static String quoted(List<String> names) {
    return names.stream().map(name -> "`" + name + "`").collect(Collectors.joining(", "));
  }

  private static long deduplicateOperators(StreamExecutionEnvironment environment) {
    return environment.getStreamGraph(false).getStreamNodes().stream()
        .map(StreamNode::getOperatorFactory)
        .filter(
            factory ->
                factory.getStreamOperatorClass(Thread.currentThread().getContextClassLoader())
                    == DeduplicateOperator.class)
        .count();
  }

  /** The row of each key, of a changelog whose updates replace the row of their key. */
  private static Map<List<Object>, List<Object>> replayed(List<Row> changes, int keys) {
    Map<List<Object>, List<Object>> rows = new LinkedHashMap<>();
    for (Row change : changes) {
      List<Object> row = comparable(change);
      List<Object> key = row.subList(0, keys);
      RowKind kind = change.getKind();
      if (kind != RowKind.UPDATE_BEFORE) {
        assertThat(rows.put(key, row) == null)
            .as("whether %s is the first row of its key", change)
            .isEqualTo(kind == RowKind.INSERT);
      }
    }
    return rows;
  }

  private static List<Object> comparable(Row row) {
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < row.getArity(); i++) {
      Object value = row.getField(i);
      values.add(value instanceof byte[] bytes ? ByteBuffer.wrap(bytes) : value);
    }
    return values;
  }
}
