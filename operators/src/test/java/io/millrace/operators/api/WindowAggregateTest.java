// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RowCollector;
import io.millrace.operators.window.Cumulate;
import io.millrace.operators.window.Hop;
import io.millrace.operators.window.Tumble;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class WindowAggregateTest {
  private static final Schema BIDS =
      Schema.of(
          new Field("auction", DataType.INT64, false),
          Field.of("price", DataType.INT32),
          new Field("ts", DataType.timestamp(3), false));
  private static final Duration SECOND = Duration.ofSeconds(1);

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static Row bid(long auction, int price, int second) {
    return Row.of(auction, price, LocalDateTime.ofEpochSecond(second, 0, ZoneOffset.UTC));
  }

  private static long millis(Row row) {
    return ((LocalDateTime) row.getFieldAs(2)).toInstant(ZoneOffset.UTC).toEpochMilli();
  }

  /** A watermark behind each row: the time of the row. */
  private static final class EachRow implements WatermarkGenerator<Row> {
    @Override
    public void onEvent(Row row, long timestamp, WatermarkOutput output) {
      output.emitWatermark(new Watermark(timestamp));
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {}
  }

  private static ColumnStream bids(StreamExecutionEnvironment environment, Row... rows) {
    DataStream<Row> stream =
        environment
            .fromData(rows)
            .returns(ExternalRowDecoder.typeInformation(BIDS))
            .assignTimestampsAndWatermarks(
                WatermarkStrategy.<Row>forGenerator(context -> new EachRow())
                    .withTimestampAssigner((row, before) -> millis(row)));
    return ColumnStream.from(stream, BIDS).batch(BatchOptions.DEFAULT.withRows(2, 2));
  }

  private static List<String> run(StreamExecutionEnvironment environment, ColumnStream stream)
      throws Exception {
    RowCollector<String> collector = new RowCollector<>();
    collector.collect(stream.toRows(), Row::toString);
    flink.run(environment);
    return collector.rows();
  }

  @OutOfMemoryTest(onCluster = true)
  void windowsOfEachKeyAreAggregated() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    ColumnStream windows =
        bids(environment, bid(1, 10, 1), bid(2, 20, 2), bid(1, 30, 9), bid(1, 5, 12), bid(2, 6, 13))
            .keyBy("auction")
            .window(Tumble.over("ts", SECOND.multipliedBy(10)))
            .aggregate(count().as("n"), max("price").as("m"));
    assertThat(run(environment, windows))
        .containsExactly(
            "+I[1, 2, 30, 1970-01-01T00:00, 1970-01-01T00:00:10, 1970-01-01T00:00:09.999]",
            "+I[2, 1, 20, 1970-01-01T00:00, 1970-01-01T00:00:10, 1970-01-01T00:00:09.999]",
            "+I[1, 1, 5, 1970-01-01T00:00:10, 1970-01-01T00:00:20, 1970-01-01T00:00:19.999]",
            "+I[2, 1, 6, 1970-01-01T00:00:10, 1970-01-01T00:00:20, 1970-01-01T00:00:19.999]");
  }

  @Test
  void lateRowsGoToTheirOwnStream() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    ColumnStream windows =
        bids(environment, bid(1, 10, 1), bid(1, 20, 20), bid(1, 30, 2))
            .keyBy("auction")
            .window(Tumble.over("ts", SECOND.multipliedBy(10)))
            .sideOutputLateRows()
            .aggregate(count().as("n"));
    RowCollector<String> late = new RowCollector<>();
    late.collect(windows.lateRows().toRows(), Row::toString);
    assertThat(run(environment, windows.select(Expressions.col("n")))).hasSize(2);
    assertThat(late.rows()).containsExactly("+I[1, 30, 1970-01-01T00:00:02]");
    assertThatThrownBy(() -> windows.select(Expressions.col("n")).lateRows())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("lateRows belongs right behind an aggregate with");
  }

  @Test
  void resultsComeBeforeWindowsEnd() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    WindowedColumnStream tumble =
        bids(environment, bid(1, 10, 1), bid(2, 20, 2), bid(1, 30, 9), bid(1, 5, 12))
            .keyBy("auction")
            .window(Tumble.over("ts", SECOND.multipliedBy(10)));
    ColumnStream windows =
        tumble.earlyFiring(Duration.ofMillis(1)).aggregate(count().as("n"), max("price").as("m"));
    assertThat(windows.explain()).contains("earlyFiring=[1 ms]");
    List<String> rows = new ArrayList<>();
    for (String change : run(environment, windows)) {
      String row = change.substring(2);
      if (change.startsWith("-U")) {
        assertThat(rows.remove(row)).as("row before %s", change).isTrue();
      } else {
        rows.add(row);
      }
    }
    assertThat(rows)
        .containsExactlyInAnyOrder(
            "[1, 2, 30, 1970-01-01T00:00, 1970-01-01T00:00:10, 1970-01-01T00:00:09.999]",
            "[2, 1, 20, 1970-01-01T00:00, 1970-01-01T00:00:10, 1970-01-01T00:00:09.999]",
            "[1, 1, 5, 1970-01-01T00:00:10, 1970-01-01T00:00:20, 1970-01-01T00:00:19.999]");
    assertThatThrownBy(() -> tumble.earlyFiring(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected whole milliseconds, at least 0, got PT-0.001S");
  }

  @Test
  void lateRowsUpdateResultsWithinTheAllowedLateness() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    ColumnStream windows =
        bids(
                environment,
                bid(1, 10, 1),
                bid(1, 20, 12),
                bid(1, 30, 2),
                bid(1, 40, 40),
                bid(1, 1, 3))
            .keyBy("auction")
            .window(Tumble.over("ts", SECOND.multipliedBy(10)))
            .allowedLateness(SECOND.multipliedBy(5))
            .sideOutputLateRows()
            .aggregate(count().as("n"), max("price").as("m"));
    RowCollector<String> late = new RowCollector<>();
    late.collect(windows.lateRows().toRows(), Row::toString);
    ColumnStream selected =
        windows.select(Expressions.col("n"), Expressions.col("m"), Expressions.col("window_end"));
    assertThat(run(environment, selected))
        .containsExactly(
            "+I[1, 10, 1970-01-01T00:00:10]",
            "-U[1, 10, 1970-01-01T00:00:10]",
            "+U[2, 30, 1970-01-01T00:00:10]",
            "+I[1, 20, 1970-01-01T00:00:20]",
            "+I[1, 40, 1970-01-01T00:00:50]");
    assertThat(late.rows()).containsExactly("+I[1, 1, 1970-01-01T00:00:03]");
  }

  @Test
  void windowsOfWindowsAreAggregated() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(2);
    ColumnStream windows =
        bids(environment, bid(1, 1, 1), bid(2, 2, 2), bid(1, 4, 11), bid(3, 8, 12), bid(1, 16, 21))
            .keyBy("auction")
            .window(Tumble.over("ts", SECOND.multipliedBy(10)))
            .aggregate(count().as("n"))
            .keyBy("n")
            .window(Hop.over("window_time", SECOND.multipliedBy(20)).every(SECOND.multipliedBy(10)))
            .aggregate(count().as("m"))
            .select(Expressions.col("n"), Expressions.col("m"), Expressions.col("window_end"));
    assertThat(run(environment, windows))
        .containsExactlyInAnyOrder(
            "+I[1, 2, 1970-01-01T00:00:10]",
            "+I[1, 4, 1970-01-01T00:00:20]",
            "+I[1, 3, 1970-01-01T00:00:30]",
            "+I[1, 1, 1970-01-01T00:00:40]");
  }

  @Test
  void explainNamesTheWindow() {
    ColumnStream windows =
        bids(flink.environment(1), bid(1, 1, 1))
            .keyBy("auction")
            .window(
                Cumulate.over("ts", SECOND.multipliedBy(10))
                    .every(SECOND.multipliedBy(2))
                    .offset(Duration.ofMillis(-500)))
            .aggregate(count().as("n"));
    assertThat(windows.explain())
        .contains(
            "WindowAggregate(groupBy=[auction], window=[CUMULATE(time_col=[ts], max_size=[10 s],"
                + " step=[2 s], offset=[-500 ms])], select=[auction, COUNT(*) AS n, start(w$),"
                + " end(w$), rowtime(w$)])",
            "   state: 32 bytes of row and 9 to 14 bytes of index for each key and slice: auction,"
                + " COUNT(*)\n");
  }

  @Test
  void openWindowsOfProcessingTimeAreNotEmittedAtTheEndOfTheInput() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    ColumnStream windows =
        bids(environment, bid(1, 1, 1), bid(2, 2, 2))
            .keyBy("auction")
            .window(Tumble.overProcessingTime(Duration.ofDays(36_500)))
            .aggregate(count().as("n"));
    assertThat(windows.explain())
        .contains("window=[TUMBLE(time_col=[PROCTIME()], size=[3153600000 s])]");
    assertThat(run(environment, windows)).isEmpty();
  }

  @Test
  void windowsThatCannotBeComputedAreRefused() {
    KeyedColumnStream bids = bids(flink.environment(1), bid(1, 1, 1)).keyBy("auction");
    assertThatThrownBy(() -> bids.window(Tumble.over("price", SECOND)).aggregate(count()))
        .isInstanceOf(ExpressionException.class)
        .hasMessage(
            "expected TIMESTAMP or TIMESTAMP_LTZ with up to 3 digits for time column 'price', got"
                + " INT");
    assertThatThrownBy(() -> bids.window(Tumble.over("x", SECOND)).aggregate(count()))
        .isInstanceOf(ExpressionException.class)
        .hasMessage("there is no time column 'x'");
    assertThatThrownBy(
            () -> bids.window(Tumble.over("ts", SECOND)).aggregate(count().as("window_end")))
        .isInstanceOf(ExpressionException.class)
        .hasMessage("two columns are called 'window_end'");
    assertThatThrownBy(
            () ->
                bids.aggregate(count().as("n"), max("ts").as("ts"))
                    .keyBy("n")
                    .window(Tumble.over("ts", SECOND))
                    .aggregate(count()))
        .isInstanceOf(ExpressionException.class)
        .hasMessage("windows over a changelog are not supported");
    assertThatThrownBy(
            () -> bids.window(Tumble.over("ts", SECOND)).aggregate(count("ts").distinct().as("n")))
        .isInstanceOf(ExpressionException.class)
        .hasMessageStartingWith(
            "DISTINCT and user-defined functions are not supported in windows: ");
    assertThatThrownBy(() -> Hop.over("ts", SECOND).every(Duration.ofMillis(300)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected a size of HOP that is a multiple of 300 ms, got 1000 ms");
    assertThatThrownBy(
            () -> bids.window(Tumble.over("ts", SECOND)).allowedLateness(Duration.ofNanos(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected whole milliseconds, at least 0, got PT0.000000001S");
    assertThatThrownBy(() -> Tumble.over("ts", Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected a positive duration, got PT0S");
  }
}
