// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.deduplicate.Deduplication.keepFirst;
import static io.millrace.operators.deduplicate.Deduplication.keepLast;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.process.KeyedBatch;
import io.millrace.operators.process.KeyedBatchFunction;
import io.millrace.operators.process.KeyedResult;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RowCollector;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class DeduplicateTest {
  private static final Schema ORDERS =
      Schema.of(
          Field.of("id", DataType.STRING),
          new Field("price", DataType.INT32, false),
          Field.of("tags", DataType.list(DataType.STRING)));
  private static final String LONG = "an id of more than 12 bytes";

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static Row order(String id, int price, String... tags) {
    return Row.of(id, price, tags);
  }

  private static ColumnStream orders(
      StreamExecutionEnvironment environment, int batchRows, Row... rows) {
    DataStream<Row> stream =
        environment
            .fromData(rows)
            .returns(ExternalRowDecoder.typeInformation(ORDERS))
            .assignTimestampsAndWatermarks(
                WatermarkStrategy.<Row>noWatermarks()
                    .withTimestampAssigner((row, before) -> row.<Integer>getFieldAs(1) * 10L));
    return ColumnStream.from(stream, ORDERS)
        .batch(BatchOptions.DEFAULT.withRows(batchRows, batchRows));
  }

  private static KeyedColumnStream orders(StreamExecutionEnvironment environment) {
    return orders(
            environment,
            3,
            order(LONG, 1, "a"),
            order("x", 2),
            order(LONG, 3, "b", "c"),
            order("x", 4, "d"),
            order(null, 5, "e", null),
            order("y", 6))
        .keyBy("id");
  }

  /** Gives each row with its timestamp. */
  private static final class Timed extends ProcessFunction<Row, String> {
    private static final long serialVersionUID = 1L;

    @Override
    public void processElement(Row row, Context context, Collector<String> output) {
      output.collect(row + "@" + context.timestamp());
    }
  }

  @OutOfMemoryTest(onCluster = true)
  void firstRowsAreInsertedWithTheirEventTimes() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    RowCollector<String> collector = new RowCollector<>();
    ColumnStream first = orders(environment).deduplicate(keepFirst());
    assertThat(first.schema()).isEqualTo(ORDERS);
    collector.collect(first.toRows().process(new Timed()).returns(Types.STRING), text -> text);
    flink.run(environment);
    assertThat(collector.rows())
        .containsExactly(
            "+I[" + LONG + ", 1, [a]]@10",
            "+I[x, 2, []]@20",
            "+I[null, 5, [e, null]]@50",
            "+I[y, 6, []]@60");
  }

  @OutOfMemoryTest(onCluster = true)
  void lastRowsReplaceTheRowsBeforeWithTheirEventTimes() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    RowCollector<String> collector = new RowCollector<>();
    ColumnStream last =
        orders(environment, 1, order("x", 2), order(LONG, 3), order("x", 4, "d"))
            .keyBy("id")
            .deduplicate(keepLast());
    assertThat(last.schema()).isEqualTo(RowKindColumn.addTo(ORDERS));
    collector.collect(last.toRows().process(new Timed()).returns(Types.STRING), text -> text);
    flink.run(environment);
    // Batches of one row may be joined on their way.
    assertThat(collector.rows())
        .contains("+I[" + LONG + ", 3, []]@30")
        .containsAnyOf("+U[x, 4, [d]]@40", "+I[x, 4, [d]]@40");
  }

  @OutOfMemoryTest(onCluster = true)
  void lastRowsByAColumnReplaceTheRowsBefore() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    RowCollector<String> collector = new RowCollector<>();
    collector.collect(
        orders(
                environment,
                4,
                order("x", 7, "a"),
                order(LONG, 3),
                order("x", 4),
                order("x", 7, "b"))
            .keyBy("id")
            .deduplicate(keepLast().by("price"))
            .toRows()
            .process(new Timed())
            .returns(Types.STRING),
        text -> text);
    flink.run(environment);
    // Rows of one subtask stay in order; a batch of them may be cut on its way.
    assertThat(collector.rows())
        .contains("+I[" + LONG + ", 3, []]@30")
        .filteredOn(text -> text.contains("[x, "))
        .last()
        .asString()
        .endsWith("[x, 7, [b]]@70");
  }

  @Test
  void firstRowsAreAggregated() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(2);
    RowCollector<String> collector = new RowCollector<>();
    collector.collect(
        orders(environment)
            .deduplicate(keepFirst())
            .filter(col("price").lt(6))
            .keyBy("price")
            .aggregate(count().as("n"))
            .toRows(),
        Row::toString);
    flink.run(environment);
    assertThat(collector.rows()).containsExactlyInAnyOrder("+I[1, 1]", "+I[2, 1]", "+I[5, 1]");
  }

  @Test
  void aggregatesOfUpdatesWithoutTheRowsBeforeAreRefused() {
    StreamExecutionEnvironment environment = flink.environment(1);
    ColumnStream last = orders(environment).deduplicate(keepLast());
    assertThatThrownBy(
            () -> last.filter(col("price").gt(1)).keyBy("price").aggregate(count().as("n")))
        .isInstanceOf(ExpressionException.class)
        .hasMessage(
            "expected a changelog with the row before each update, got the changes of"
                + " deduplicate(...), which have only the row after it");
    assertThatThrownBy(
            () ->
                ColumnStream.fromBatches(last.toBatches())
                    .keyBy("price")
                    .aggregate(count().as("n")))
        .isInstanceOf(ExpressionException.class);
    assertThatThrownBy(
            () ->
                orders(environment)
                    .deduplicate(keepFirst().by("price"))
                    .keyBy("price")
                    .aggregate(count().as("n")))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("got the changes of deduplicate(...)");
    assertThatThrownBy(() -> last.keyBy("id").deduplicate(keepFirst()))
        .isInstanceOf(ExpressionException.class);
  }

  /** Makes a changelog of its own. */
  private record Changelog() implements KeyedBatchFunction {
    private static final long serialVersionUID = 1L;

    @Override
    public Schema outputSchema(Schema input) {
      return RowKindColumn.addTo(Schema.of(input.field(0)));
    }

    @Override
    public Schema stateSchema(Schema input) {
      return Schema.of(Field.of("rows", DataType.INT64));
    }

    @Override
    public KeyedResult process(KeyedBatch batch) {
      return new KeyedResult(null, null);
    }
  }

  @Test
  void theChangelogOfAFunctionBehindUpdatesIsAggregated() {
    ColumnStream last = orders(flink.environment(1)).deduplicate(keepLast());
    ColumnStream counts =
        last.keyBy("id").process(new Changelog()).keyBy("id").aggregate(count().as("n"));
    assertThat(counts.schema().field(0)).isEqualTo(ORDERS.field(0));
  }

  @Test
  void explainNamesTheRowsThatAreKept() {
    StreamExecutionEnvironment environment = flink.environment(1);
    assertThat(orders(environment).deduplicate(keepFirst()).explain())
        .endsWith(
            """
            Deduplicate(keep=[FirstRow], key=[id], order=[PROCTIME]) [GPU if there is one]
               state: 32 bytes of row and 9 to 14 bytes of index for each key, and strings of more\
             than 12 bytes: id, MIN(arrival)
            """);
    assertThat(orders(environment).deduplicate(keepLast()).explain())
        .contains("Deduplicate(keep=[LastRow], key=[id], order=[PROCTIME])");
    assertThat(orders(environment).deduplicate(keepFirst().by("price")).explain())
        .endsWith(
            """
            Deduplicate(keep=[FirstRow], key=[id], order=[price ASC]) [GPU if there is one]
               state: 32 bytes of row and 9 to 14 bytes of index for each key, and strings of more\
             than 12 bytes: id, MIN(price)
            """);
    assertThat(orders(environment).deduplicate(keepLast().by("price")).explain())
        .contains("Deduplicate(keep=[LastRow], key=[id], order=[price DESC])");
  }
}
