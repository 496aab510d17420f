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
import io.millrace.operators.window.Session;
import io.millrace.operators.window.Tumble;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
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
class SessionWindowTest {
  private static final Schema BIDS =
      Schema.of(
          new Field("bidder", DataType.INT64, false),
          Field.of("price", DataType.INT32),
          new Field("ts", DataType.timestamp(3), false));
  private static final Duration GAP = Duration.ofSeconds(10);

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static Row bid(long bidder, int price, int second) {
    return Row.of(bidder, price, LocalDateTime.ofEpochSecond(second, 0, ZoneOffset.UTC));
  }

  private static long millis(Row row) {
    return ((LocalDateTime) row.getFieldAs(2)).toInstant(ZoneOffset.UTC).toEpochMilli();
  }

  /** A watermark behind each row: 5 seconds before its time. */
  private static final class EachRow implements WatermarkGenerator<Row> {
    @Override
    public void onEvent(Row row, long timestamp, WatermarkOutput output) {
      output.emitWatermark(new Watermark(timestamp - 5_000));
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
  void sessionsOfEachKeyAreAggregated() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    ColumnStream sessions =
        bids(environment, bid(1, 10, 1), bid(2, 20, 2), bid(1, 30, 11), bid(1, 5, 6), bid(2, 6, 13))
            .keyBy("bidder")
            .window(Session.over("ts", GAP))
            .aggregate(count().as("n"), max("price").as("m"));
    assertThat(run(environment, sessions))
        .containsExactlyInAnyOrder(
            "+I[1, 3, 30, 1970-01-01T00:00:01, 1970-01-01T00:00:21, 1970-01-01T00:00:20.999]",
            "+I[2, 1, 20, 1970-01-01T00:00:02, 1970-01-01T00:00:12, 1970-01-01T00:00:11.999]",
            "+I[2, 1, 6, 1970-01-01T00:00:13, 1970-01-01T00:00:23, 1970-01-01T00:00:22.999]");
  }

  // The event time of a row is the last millisecond of its session.
  @Test
  void sessionsAreCountedInWindows() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    ColumnStream counts =
        bids(environment, bid(1, 1, 1), bid(2, 1, 4), bid(1, 1, 12), bid(3, 1, 29))
            .keyBy("bidder")
            .window(Session.over("ts", GAP))
            .aggregate(count().as("n"))
            .select(Expressions.lit(0).as("all"), Expressions.col("window_time"))
            .keyBy("all")
            .window(Tumble.over("window_time", GAP))
            .aggregate(count().as("sessions"))
            .select(Expressions.col("sessions"), Expressions.col("window_end"));
    assertThat(run(environment, counts))
        .containsExactly(
            "+I[2, 1970-01-01T00:00:20]",
            "+I[1, 1970-01-01T00:00:30]",
            "+I[1, 1970-01-01T00:00:40]");
  }

  @Test
  void lateRowsGoToTheirOwnStream() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    ColumnStream sessions =
        bids(environment, bid(1, 10, 1), bid(1, 20, 40), bid(1, 30, 2), bid(1, 40, 32))
            .keyBy("bidder")
            .window(Session.over("ts", GAP))
            .sideOutputLateRows()
            .aggregate(count().as("n"));
    RowCollector<String> late = new RowCollector<>();
    late.collect(sessions.lateRows().toRows(), Row::toString);
    assertThat(run(environment, sessions.select(Expressions.col("n"))))
        .containsExactly("+I[1]", "+I[2]");
    assertThat(late.rows()).containsExactly("+I[1, 30, 1970-01-01T00:00:02]");
  }

  @Test
  void whatSessionsDoNotHaveIsRefused() {
    assertThatThrownBy(() -> Session.over("ts", GAP).offset(GAP))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("sessions begin with a row: they have no offset");
    ColumnStream bids = bids(flink.environment(1), bid(1, 1, 1));
    assertThatThrownBy(
            () ->
                bids.keyBy("bidder")
                    .window(Session.over("ts", GAP))
                    .allowedLateness(GAP)
                    .aggregate(count().as("n")))
        .isInstanceOf(ExpressionException.class)
        .hasMessage(
            "expected TUMBLE, HOP or CUMULATE of event time for allowed lateness, got"
                + " SESSION(time_col=[ts], gap=[10 s])");
  }
}
