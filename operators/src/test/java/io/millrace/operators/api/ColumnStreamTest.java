package io.millrace.operators.api;

import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.ExpressionException;
import io.millrace.operators.batch.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RowCollector;
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
             [device]
            """);
    assertThat(run(stream)).containsExactly(List.of(4L, 1_499, 3_000));
  }

  @Test
  void aStreamMayBeGoneOnWithInSeveralWays() throws Exception {
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
    assertThatThrownBy(() -> bids.union(bids.drop("channel")))
        .hasMessage("a union needs equal columns, but column 3 is channel STRING and none");
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
  void rowsOfOneKeyComeToOneSubtask() throws Exception {
    assertThat(run(bids().keyBy("auction").filter(col("auction").gt(1L)).drop("channel")))
        .hasSize(3);
  }
}
