// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.deduplicate.Deduplication.keepFirst;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RowCollector;
import io.millrace.operators.window.Tumble;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The time-to-live of a stream's keys. */
@ExtendWith(NothingHeldExtension.class)
class StateTtlTest {
  private static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.INT32, false), new Field("ts", DataType.timestamp(3), false));

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static KeyedColumnStream keyed() {
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(1);
    return ColumnStream.from(
            environment.fromData(Row.of(1, null)).returns(ExternalRowDecoder.typeInformation(ROWS)),
            ROWS)
        .batch(BatchOptions.DEFAULT)
        .keyBy("k");
  }

  @Test
  void explainSaysHowLongKeysStay() {
    KeyedColumnStream hours = keyed().stateTtl(Duration.ofHours(3)).name("keyed").uid("keyed");
    assertThat(hours.aggregate(count().as("n")).explain())
        .contains("GroupAggregate(groupBy=[k], select=[k, COUNT(*) AS n], stateTtl=[3 h])");
    assertThat(hours.deduplicate(keepFirst()).explain())
        .contains("Deduplicate(keep=[FirstRow], key=[k], order=[PROCTIME], stateTtl=[3 h])");
    assertThat(
            hours
                .stateTtl(Duration.ofMinutes(2), TimeDomain.EVENT_TIME)
                .aggregate(count().as("n"))
                .explain())
        .contains("stateTtl=[2 min, EVENT_TIME])");
    assertThat(hours.stateTtl(Duration.ZERO).aggregate(count().as("n")).explain())
        .doesNotContain("stateTtl");
  }

  /** A watermark behind each row: its time. */
  private static final class EachRow implements WatermarkGenerator<Row> {
    @Override
    public void onEvent(Row row, long timestamp, WatermarkOutput output) {
      output.emitWatermark(new Watermark(timestamp));
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {}
  }

  private static Row row(int key, int second) {
    return Row.of(key, LocalDateTime.ofEpochSecond(second, 0, ZoneOffset.UTC));
  }

  @Test
  void keysAreForgottenByTheWatermark() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    DataStream<Row> rows =
        environment
            .fromData(row(1, 0), row(1, 1), row(2, 1), row(1, 5), row(1, 6), row(2, 7))
            .returns(ExternalRowDecoder.typeInformation(ROWS))
            .assignTimestampsAndWatermarks(
                WatermarkStrategy.<Row>forGenerator(context -> new EachRow())
                    .withTimestampAssigner(
                        (row, before) ->
                            ((LocalDateTime) row.getFieldAs(1))
                                .toInstant(ZoneOffset.UTC)
                                .toEpochMilli()));
    RowCollector<String> collector = new RowCollector<>();
    collector.collect(
        ColumnStream.from(rows, ROWS)
            .batch(BatchOptions.DEFAULT)
            .keyBy("k")
            .stateTtl(Duration.ofSeconds(2), TimeDomain.EVENT_TIME)
            .aggregate(count().as("n"))
            .toRows(),
        Row::toString);
    flink.run(environment);
    assertThat(collector.rows())
        .containsExactly(
            "+I[1, 1]",
            "-U[1, 1]",
            "+U[1, 2]",
            "+I[2, 1]",
            "-U[1, 2]",
            "+U[1, 3]",
            // The watermark was 1 s when key 1 was updated last, and is 5 s.
            "+I[1, 1]",
            "+I[2, 1]");
  }

  @Test
  void timesThatAreNoTimesToLiveAreRefused() {
    for (Duration time : new Duration[] {Duration.ofMillis(-1), Duration.ofNanos(999_999)}) {
      assertThatThrownBy(() -> keyed().stateTtl(time))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected zero or at least a millisecond for stateTtl, got " + time);
    }
  }

  @Test
  void aTimeToLiveHasADomain() {
    assertThatThrownBy(() -> keyed().stateTtl(Duration.ofHours(1), null))
        .isInstanceOf(NullPointerException.class)
        .hasMessage("domain");
  }

  @Test
  void windowsForgetByThemselves() {
    assertThatThrownBy(
            () ->
                keyed()
                    .stateTtl(Duration.ofHours(1))
                    .window(Tumble.over("ts", Duration.ofSeconds(10))))
        .isInstanceOf(ExpressionException.class)
        .hasMessage("stateTtl is not supported for windows: their state goes when they end");
  }
}
