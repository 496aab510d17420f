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
import io.millrace.operators.row.RowKindColumn;
import io.millrace.testing.RandomExtension;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Where aggregates by key are not Flink's on purpose. */
class GroupAggregateDifferencesTest {
  private static final Schema INTEGERS =
      Schema.of(new Field("k", DataType.INT32, false), new Field("x", DataType.INT32, false));
  private static final Schema DOUBLES =
      Schema.of(new Field("k", DataType.INT32, false), new Field("x", DataType.FLOAT64, false));

  @RegisterExtension final RandomExtension random = new RandomExtension();

  private final StreamExecutionEnvironment environment =
      StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(1);

  private Duration stateTtl = Duration.ZERO;

  private DataStream<Row> stream(Schema schema, Row... rows) {
    return environment.fromData(ExternalRowDecoder.typeInformation(schema), rows);
  }

  private List<String> flink(String aggregates, Schema schema, Row... rows) throws Exception {
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.getConfig().setIdleStateRetention(stateTtl);
    DataStream<Row> stream = stream(schema, rows);
    boolean isChangelog = rows[0].getKind() != RowKind.INSERT;
    Table table = isChangelog ? tables.fromChangelogStream(stream) : tables.fromDataStream(stream);
    tables.createTemporaryView("t", table.as("k", "x"));
    CollectedRows collected =
        CollectedRows.of(
            tables.toChangelogStream(
                tables.sqlQuery("SELECT k, " + aggregates + " FROM t GROUP BY k")));
    environment.execute();
    return collected.take().stream().map(Row::toString).toList();
  }

  private List<String> millrace(
      List<Aggregate> aggregates, int batchRows, Schema schema, Row... rows) throws Exception {
    DataStream<Row> stream =
        WatermarkEvery.appendTo(
            stream(new Schema(RowKindColumn.rowFields(schema)), rows), batchRows);
    CollectedRows collected =
        CollectedRows.of(
            ColumnStream.from(stream, schema)
                .batch(BatchOptions.DEFAULT.withRows(batchRows, batchRows))
                .keyBy("k")
                .stateTtl(stateTtl)
                .aggregate(aggregates.toArray(Aggregate[]::new))
                .toRows());
    environment.execute();
    return collected.take().stream().map(Row::toString).toList();
  }

  /**
   * Flink adds the values of an average as BIGINT, except where the planner finds it cheaper to
   * divide a sum of the argument's type, such as beside that sum and a count.
   */
  @Test
  void averagesOfFlinkMayWrap() throws Exception {
    Row[] rows = {Row.of(1, Integer.MAX_VALUE), Row.of(1, Integer.MAX_VALUE)};

    assertThat(flink("AVG(x)", INTEGERS, rows)).last().isEqualTo("+I[1, 2147483647]");
    assertThat(flink("AVG(x), SUM(x), COUNT(*)", INTEGERS, rows))
        .last()
        .isEqualTo("+U[1, -1, -2, 2]");

    assertThat(millrace(List.of(avg("x"), sum("x"), count()), 2, INTEGERS, rows))
        .containsExactly("+I[1, 2147483647, -2, 2]");
  }

  /** In Flink the first value stays beside a NaN, and the first zero beside the other zero. */
  @Test
  void extremesOfNaNAndZerosDoNotDependOnTheOrderOfRows() throws Exception {
    Row[] rows = {
      Row.of(1, Double.NaN),
      Row.of(1, 1.0),
      Row.of(2, 1.0),
      Row.of(2, Double.NaN),
      Row.of(3, 0.0),
      Row.of(3, -0.0),
      Row.of(4, -0.0),
      Row.of(4, 0.0)
    };

    assertThat(flink("MIN(x), MAX(x)", DOUBLES, rows))
        .contains("+I[1, NaN, NaN]", "+I[2, 1.0, 1.0]", "+I[3, 0.0, 0.0]", "+I[4, -0.0, -0.0]")
        .noneMatch(row -> row.contains("1.0, NaN") || row.contains("-0.0, 0.0"));

    assertThat(millrace(List.of(min("x"), max("x")), rows.length, DOUBLES, rows))
        .containsExactly(
            "+I[1, 1.0, NaN]", "+I[2, 1.0, NaN]", "+I[3, -0.0, 0.0]", "+I[4, -0.0, 0.0]");
  }

  /** An update is emitted when an accumulator changes, also where the result does not. */
  @Test
  void updatesMayLeaveTheResultAsItWas() throws Exception {
    Row[] rows = {Row.of(1, 5), Row.of(1, 5)};

    assertThat(flink("AVG(x)", INTEGERS, rows)).containsExactly("+I[1, 5]");

    assertThat(millrace(List.of(avg("x")), 1, INTEGERS, rows))
        .containsExactly("+I[1, 5]", "-U[1, 5]", "+U[1, 5]");
  }

  /** Where keys are forgotten, Flink emits such updates too: its readers forget keys as well. */
  @Test
  void updatesAreThoseOfFlinkWithATimeToLive() throws Exception {
    stateTtl = Duration.ofDays(1);
    Row[] rows =
        IntStream.range(0, 200)
            .mapToObj(i -> Row.of(random.random().nextInt(5), random.random().nextInt(2)))
            .toArray(Row[]::new);

    assertThat(millrace(List.of(sum("x"), max("x")), 1, INTEGERS, rows))
        .isEqualTo(flink("SUM(x), MAX(x)", INTEGERS, rows))
        .hasSizeGreaterThan(380);
  }

  /** After an overflow Flink begins again with the next value. */
  @Test
  void sumsOfDecimalsReturnFromAnOverflow() throws Exception {
    BigDecimal large = new BigDecimal("9e37").setScale(0);
    Schema schema =
        Schema.of(new Field("k", DataType.INT32, false), Field.of("x", DataType.decimal(38, 0)));
    Row[] rows = {
      Row.of(1, large), Row.of(1, large), Row.of(1, BigDecimal.ONE), Row.of(1, large.negate())
    };

    assertThat(flink("SUM(x)", schema, rows))
        .containsSubsequence("+U[1, null]", "+U[1, 1]")
        .last()
        .isEqualTo("+U[1, " + large.negate().add(BigDecimal.ONE) + "]");

    assertThat(millrace(List.of(sum("x")), 1, schema, rows))
        .containsSubsequence("+U[1, null]", "+U[1, null]")
        .last()
        .isEqualTo("+U[1, " + large.add(BigDecimal.ONE) + "]");
  }

  /** Flink looks for the largest value among those that were taken back before they came, too. */
  @Test
  void aValueThatWasOnlyTakenBackIsNoMaximum() throws Exception {
    Row[] rows = {
      Row.ofKind(RowKind.UPDATE_AFTER, 1, 5),
      Row.of(1, 3),
      Row.of(1, 2),
      Row.ofKind(RowKind.DELETE, 1, 9),
      Row.ofKind(RowKind.DELETE, 1, 5)
    };

    assertThat(flink("MAX(x)", INTEGERS, rows)).last().isEqualTo("+U[1, 9]");

    assertThat(millrace(List.of(max("x")), rows.length, RowKindColumn.addTo(INTEGERS), rows))
        .containsExactly("+I[1, 3]");
  }

  /** Only malformed changelogs take back rows of a key that has none. */
  @Test
  void takingBackARowOfAnUnknownKeyCounts() throws Exception {
    Row deletion = Row.ofKind(RowKind.DELETE, 1, 5);

    assertThat(flink("COUNT(*), SUM(x)", INTEGERS, deletion)).isEmpty();

    assertThat(millrace(List.of(count(), sum("x")), 1, RowKindColumn.addTo(INTEGERS), deletion))
        .containsExactly("+I[1, -1, -5]");
  }
}
