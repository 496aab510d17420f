// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.process;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.types.Row;
import org.apache.flink.util.Collector;

/** What {@link BurstAlerts} does, as a function of Flink. */
final class FlinkBurstAlerts extends KeyedProcessFunction<Long, Row, Row> {
  private static final long serialVersionUID = 1L;
  private static final long MINUTE = 60_000;

  private transient ValueState<Long> last;
  private transient ValueState<Long> beforeLast;

  @Override
  public void open(OpenContext context) {
    last = getRuntimeContext().getState(new ValueStateDescriptor<>("last", Types.LONG));
    beforeLast =
        getRuntimeContext().getState(new ValueStateDescriptor<>("before_last", Types.LONG));
  }

  @Override
  public void processElement(Row bid, Context context, Collector<Row> output) throws Exception {
    long time = millis(bid.getFieldAs(1));
    if (beforeLast.value() != null && time - beforeLast.value() < MINUTE) {
      output.collect(row(context.getCurrentKey(), time, "burst"));
    }
    beforeLast.update(last.value());
    last.update(time);
    context.timerService().registerEventTimeTimer(time + MINUTE);
  }

  @Override
  public void onTimer(long time, OnTimerContext context, Collector<Row> output) throws Exception {
    if (last.value() != null && time == last.value() + MINUTE) {
      output.collect(row(context.getCurrentKey(), time, "gone"));
      last.clear();
      beforeLast.clear();
    }
  }

  static long millis(LocalDateTime time) {
    return time.toInstant(ZoneOffset.UTC).toEpochMilli();
  }

  static LocalDateTime time(long millis) {
    return LocalDateTime.ofInstant(Instant.ofEpochMilli(millis), ZoneOffset.UTC);
  }

  private static Row row(long bidder, long time, String what) {
    return Row.of(bidder, time(time), what);
  }
}
