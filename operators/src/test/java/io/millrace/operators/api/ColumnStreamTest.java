// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ColumnFunction;
import io.millrace.expression.resolve.UserDefinedFunction;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RowCollector;
import java.io.NotSerializableException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class ColumnStreamTest {
  private static final Schema BIDS =
      Schema.of(
          new Field("auction", DataType.INT64, false),
          Field.of("price", DataType.INT32),
          Field.of("channel", DataType.STRING));

  private static final Schema TAGS = Schema.of(Field.of("tags", DataType.list(DataType.INT32)));

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private final StreamExecutionEnvironment environment = flink.environment(1);

  private ColumnStream bids() {
    DataStream<Row> rows =
        environment
            .fromData(
                Row.of(1L, 500, "Apple"),
                Row.of(2L, null, "Google"),
                Row.of(3L, 2_000, null),
                Row.of(4L, 1_500, "Baidu"))
            .returns(ExternalRowDecoder.typeInformation(BIDS));
    return ColumnStream.from(rows, BIDS).batch(BatchOptions.DEFAULT.withRows(3, 3));
  }

  private List<List<Object>> run(ColumnStream stream) throws Exception {
    BatchCollector collector = new BatchCollector();
    collector.collect(stream.toBatches());
    flink.run(environment);
    return collector.rows();
  }

  @OutOfMemoryTest(onCluster = true)
  void rowsAreFilteredAndProjected() throws Exception {
    RowCollector<Row> collector = new RowCollector<>();
    collector.collect(
        bids()
            .filter(col("price").gt(1_000))
            .select(col("auction"), col("price").plus(1).as("more"))
            .toRows(),
        Row::copy);
    flink.run(environment);
    assertThat(collector.rows().stream().map(ColumnStreamTest::values))
        .containsExactly(List.of(3L, 2_001), List.of(4L, 1_501));
  }

  private static List<Object> values(Row row) {
    return List.of(row.getField("auction"), row.getField("more"));
  }

  @Test
  void stepsInARowBecomeOneOperator() throws Exception {
    ColumnStream stream =
        bids()
            .withColumn("twice", col("price").times(2))
            .filter(col("twice").gt(1_000))
            .withColumn("price", col("price").minus(1))
            .filter(col("price").lt(1_999))
            .withColumn("ratio", col("price").dividedBy(0))
            .drop("channel", "ratio", "channel");
    assertThat(stream.schema().names()).containsExactly("auction", "price", "twice");
    assertThat(stream.explain())
        .isEqualTo(
            """
            1. Batch Row [host]
            2. Calc(where=(CASE WHEN ((price * 2) > 1000) THEN true ELSE false END AND\
             ((price - 1) < 1999)), select=[auction, (price - 1) AS price, (price * 2) AS twice])\
             [GPU if there is one]
            """);
    assertThat(run(stream)).containsExactly(List.of(4L, 1_499, 3_000));
  }

  @Test
  void aStreamMayHaveSeveralConsumers() throws Exception {
    ColumnStream expensive = bids().filter(col("price").gt(600));
    BatchCollector both = new BatchCollector();
    both.collect(
        expensive
            .select(col("auction"))
            .union(expensive.filter(col("channel").isNull()).select(col("auction")))
            .toBatches());
    flink.run(environment);
    assertThat(both.rows()).containsExactlyInAnyOrder(List.of(3L), List.of(4L), List.of(3L));
  }

  @Test
  void aWrongColumnOrTypeIsSaidWhenTheLineIsWritten() {
    ColumnStream bids = bids();
    assertThatThrownBy(() -> bids.filter(col("prise").gt(1)))
        .isInstanceOf(ExpressionException.class)
        .hasMessageStartingWith("there is no column 'prise'; did you mean 'price'?");
    assertThatThrownBy(() -> bids.select(col("auction")).filter(col("price").gt(1)))
        .isInstanceOf(ExpressionException.class)
        .hasMessage("there is no column 'price'; the columns are auction");
    assertThatThrownBy(() -> bids.filter(col("price")))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("a condition is BOOLEAN, but `price` is INT");
    assertThatThrownBy(() -> bids.withColumn("x", col("channel").plus(lit(true))))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("STRING");
    assertThatThrownBy(() -> bids.drop("chanel"))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("did you mean 'channel'?");
    assertThatThrownBy(() -> bids.drop("auction", "price", "channel"))
        .isInstanceOf(ExpressionException.class)
        .hasMessage("nothing is selected");
    assertThatThrownBy(() -> bids.keyBy("action"))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("did you mean 'auction'?");
  }

  @Test
  void explanationsSayWhereRowsComeFromAndWhyTheHostWorks() {
    ColumnStream bids = bids();
    ColumnStream sampled =
        bids.keyBy("auction")
            .union(bids.filter(col("price").gt(1)).sortWithinBatch(col("price").asc()))
            .sample(0.1, 42)
            .select(call("MD5", col("channel")).as("hash"));
    assertThat(sampled.explain())
        .isEqualTo(
            """
            1. Batch Row [host]
            2. KeyBy(keys=[auction], hash=Long.hashCode()) [GPU if there is one]
            3. Calc(where=(price > 1), select=[auction, price, channel]) from 1 [GPU if there is one]
            4. SortWithinBatch(price ASC NULLS FIRST) [GPU if there is one]
               on the host: the order of the rows, from the key columns
            5. Union from 2 and 4
            6. Calc(where=SAMPLE(0.1, 42), select=[MD5(channel) AS hash]) [GPU if there is one]
            """);
    assertThat(
            bids.select(col("price").cast(DataType.FLOAT64).cast(DataType.STRING).as("text"))
                .explain())
        .endsWith(
            "[GPU if there is one]\n   on the host: CAST: Java's digits of a floating-point number\n");
  }

  @Test
  void aUnionSaysWhichColumnsDiffer() {
    ColumnStream bids = bids();
    assertThatThrownBy(() -> bids.union(bids, bids.drop("channel")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "a union needs columns of the same names and types in the same order, but column 3 is"
                + " channel STRING in the first stream and missing in stream 3; select(...) gives"
                + " streams the same columns");
    assertThatThrownBy(() -> bids.union(bids.withColumn("price", col("price").times(2L))))
        .hasMessageContaining("column 2 is price INT in the first stream and price BIGINT in");
    assertThatThrownBy(
            () -> bids.union(bids.select(col("auction"), col("price").as("cost"), col("channel"))))
        .hasMessageContaining("column 2 is price INT in the first stream and cost INT in stream 2");
  }

  @Test
  void aColumnOfAUnionMayBeNullIfItMayBeInOneStream() throws Exception {
    ColumnStream bids = bids();
    ColumnStream neverNull = bids.select(col("price").coalesce(0).as("price"));
    ColumnStream passedOn = bids.select(col("auction").cast(DataType.INT32).as("price"));
    ColumnStream union = neverNull.union(bids.select(col("price")), passedOn);
    assertThat(neverNull.schema().field(0).nullable()).isFalse();
    assertThat(union.schema().field(0).nullable()).isTrue();
    List<Integer> prices = new ArrayList<>();
    run(union.select(col("price").plus(1).as("more")))
        .forEach(row -> prices.add((Integer) row.get(0)));
    assertThat(prices)
        .containsExactlyInAnyOrder(501, 1, 2_001, 1_501, 501, null, 2_001, 1_501, 2, 3, 4, 5);
  }

  @Test
  void aColumnThatStaysAsItIsMayBecomeNullableInAUnion() throws Exception {
    ColumnStream auctions = bids().select(col("auction"));
    ColumnStream nullable = auctions.select(call("NULLIF", col("auction"), 1L).as("auction"));
    assertThat(run(auctions.union(nullable)).stream().map(row -> row.get(0)))
        .containsExactlyInAnyOrder(1L, 2L, 3L, 4L, null, 2L, 3L, 4L);
  }

  @Test
  void aFailingRowFailsTheJobBehindTheRowsBeforeIt() {
    BatchCollector collector = new BatchCollector();
    collector.collect(
        bids().select(lit(1).dividedBy(col("price").minus(2_000)).as("x")).toBatches());
    assertThatThrownBy(() -> flink.run(environment))
        .hasStackTraceContaining("ivision by zero")
        .hasStackTraceContaining("row 2");
    assertThat(collector.rows()).hasSize(2);
  }

  @Test
  void aKeyIsCheckedWhenTheLineIsWritten() {
    DataStream<Row> rows =
        environment
            .fromData(Row.of((Object) null))
            .returns(ExternalRowDecoder.typeInformation(TAGS));
    ColumnStream tagged = ColumnStream.from(rows, TAGS).batch();
    assertThatThrownBy(() -> tagged.keyBy("tags"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("column 'tags' cannot be a key: expected a scalar type, got ARRAY<INT>");
  }

  private static UserDefinedFunction function(ColumnFunction function) {
    return UserDefinedFunction.named("FROM_P")
        .arguments(DataType.STRING)
        .returns(DataType.STRING)
        .as(function);
  }

  @Test
  void aFunctionThatThrowsFailsTheJobBehindTheRowsBeforeIt() {
    UserDefinedFunction fromP =
        function(
            ColumnFunction.ofRow(
                (operands, result, row) -> {
                  String channel = operands[0].getString(row);
                  result.setString(row, channel.substring(channel.indexOf('p')));
                }));
    BatchCollector collector = new BatchCollector();
    collector.collect(
        bids()
            .registerFunction(fromP)
            .select(call("FROM_P", col("channel")).as("end"))
            .toBatches());
    assertThatThrownBy(() -> flink.run(environment))
        .hasStackTraceContaining("the function threw an exception in FROM_P(channel) at row 1")
        .hasStackTraceContaining("StringIndexOutOfBounds");
    assertThat(collector.rows()).containsExactly(List.of("pple"));
  }

  @Test
  void aFunctionThatCannotBeSerializedIsRefusedWhenTheLineIsWritten() {
    Object lock = new Object();
    UserDefinedFunction locked =
        function(
            ColumnFunction.ofRow(
                (operands, result, row) -> result.setString(row, lock.toString())));
    ColumnStream bids = bids();
    assertThatThrownBy(() -> bids.registerFunction(locked))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the function FROM_P cannot be serialized with the job")
        .hasRootCauseInstanceOf(NotSerializableException.class);
  }

  @Test
  void rowsOfOneKeyComeToOneSubtask() throws Exception {
    assertThat(run(bids().keyBy("auction").filter(col("auction").gt(1L)).drop("channel")))
        .hasSize(3);
  }
}
