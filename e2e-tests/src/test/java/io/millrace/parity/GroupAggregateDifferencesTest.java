// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static io.millrace.operators.aggregate.Aggregate.avg;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import java.util.List;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/** Where aggregates by key are not Flink's on purpose. */
class GroupAggregateDifferencesTest {
  private static final Schema INTEGERS =
      Schema.of(new Field("k", DataType.INT32, false), new Field("x", DataType.INT32, false));
  private static final Schema DOUBLES =
      Schema.of(new Field("k", DataType.INT32, false), new Field("x", DataType.FLOAT64, false));

  private final StreamExecutionEnvironment environment =
      StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(1);

  private DataStream<Row> stream(Schema schema, Object... values) {
    Row[] rows = new Row[values.length];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = Row.of(1, values[i]);
    }
    return environment.fromData(ExternalRowDecoder.typeInformation(schema), rows);
  }

  private List<String> flink(String aggregates, Schema schema, Object... values) throws Exception {
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.createTemporaryView("t", tables.fromDataStream(stream(schema, values)).as("k", "x"));
    CollectedRows rows =
        CollectedRows.of(
            tables.toChangelogStream(
                tables.sqlQuery("SELECT k, " + aggregates + " FROM t GROUP BY k")));
    environment.execute();
    return rows.take().stream().map(Row::toString).toList();
  }

  private List<String> millrace(
      List<Aggregate> aggregates, int batchRows, Schema schema, Object... values) throws Exception {
    CollectedRows rows =
        CollectedRows.of(
            ColumnStream.from(WatermarkEvery.appendTo(stream(schema, values), batchRows), schema)
                .batch(BatchOptions.DEFAULT.withRows(batchRows, batchRows))
                .keyBy("k")
                .aggregate(aggregates.toArray(Aggregate[]::new))
                .toRows());
    environment.execute();
    return rows.take().stream().map(Row::toString).toList();
  }

  /**
   * Flink adds the values of an average as BIGINT, except where the planner finds it cheaper to
   * divide a sum of the argument's type, such as beside that sum and a count.
   */
  @Test
  void averagesOfFlinkMayWrap() throws Exception {
    Object[] values = {Integer.MAX_VALUE, Integer.MAX_VALUE};

    assertThat(flink("AVG(x)", INTEGERS, values)).last().isEqualTo("+I[1, 2147483647]");
    assertThat(flink("AVG(x), SUM(x), COUNT(*)", INTEGERS, values))
        .last()
        .isEqualTo("+U[1, -1, -2, 2]");

    assertThat(millrace(List.of(avg("x"), sum("x"), count()), 2, INTEGERS, values))
        .containsExactly("+I[1, 2147483647, -2, 2]");
  }

  /** In Flink the first NaN stays, or is never taken, and the first of two zeros stays. */
  @Test
  void extremesOfNaNAndZerosDoNotDependOnTheOrderOfRows() throws Exception {
    String extremes = "MIN(x), MAX(x)";
    assertThat(flink(extremes, DOUBLES, Double.NaN, 1.0)).last().asString().contains("NaN, NaN");
    assertThat(flink(extremes, DOUBLES, 1.0, Double.NaN)).last().asString().contains("1.0, 1.0");
    assertThat(flink(extremes, DOUBLES, 0.0, -0.0)).last().asString().contains("0.0, 0.0");
    assertThat(flink(extremes, DOUBLES, -0.0, 0.0)).last().asString().contains("-0.0, -0.0");

    List<Aggregate> aggregates = List.of(min("x"), max("x"));
    for (Object[] values : new Object[][] {{Double.NaN, 1.0}, {1.0, Double.NaN}}) {
      assertThat(millrace(aggregates, 1, DOUBLES, values)).last().asString().contains("1.0, NaN");
    }
    for (Object[] values : new Object[][] {{0.0, -0.0}, {-0.0, 0.0}}) {
      assertThat(millrace(aggregates, 1, DOUBLES, values)).last().asString().contains("-0.0, 0.0");
    }
  }

  /** An update is emitted when an accumulator changes, also where the result does not. */
  @Test
  void updatesMayLeaveTheResultAsItWas() throws Exception {
    assertThat(flink("AVG(x)", INTEGERS, 5, 5)).containsExactly("+I[1, 5]");

    assertThat(millrace(List.of(avg("x")), 1, INTEGERS, 5, 5))
        .containsExactly("+I[1, 5]", "-U[1, 5]", "+U[1, 5]");
  }
}
