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
import io.millrace.operators.window.Tumble;
import java.time.Duration;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;

/** The time-to-live of a stream's keys. */
class StateTtlTest {
  private static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.INT32, false), new Field("ts", DataType.timestamp(3), false));

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

  @Test
  void timesThatAreNoTimesToLiveAreRefused() {
    for (Duration time : new Duration[] {Duration.ofMillis(-1), Duration.ofNanos(999_999)}) {
      assertThatThrownBy(() -> keyed().stateTtl(time))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("expected zero or at least a millisecond for stateTtl, got " + time);
    }
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
