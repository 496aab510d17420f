// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.process;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.Schema;
import io.millrace.column.VariableWidthColumnBuilder;
import io.millrace.operators.process.HostKeyedBatch;
import io.millrace.operators.process.HostKeyedFunction;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import org.apache.flink.streaming.api.TimeDomain;

/** The example of docs/keyed-process.md. */
final class BurstAlerts extends HostKeyedFunction {
  private static final long serialVersionUID = 1L;
  private static final long MINUTE = 60_000;
  private static final long NONE = Long.MIN_VALUE;

  @Override
  public Schema outputSchema(Schema input) {
    return Schema.of(
        new Field("bidder", DataType.INT64, false),
        new Field("ts", DataType.timestamp(3), false),
        new Field("what", DataType.STRING, false));
  }

  @Override
  public Schema stateSchema(Schema input) {
    return Schema.of(Field.of("last", DataType.INT64), Field.of("before_last", DataType.INT64));
  }

  @Override
  public Duration timerSlices() {
    return Duration.ofMinutes(1);
  }

  @Override
  protected void process(HostKeyedBatch batch) {
    long[] last = values(batch, "last");
    long[] beforeLast = values(batch, "before_last");
    ColumnReader times = batch.column("ts");
    for (int row = 0; row < batch.rowCount(); row++) {
      int bidder = batch.keyOf(row);
      long time = times.getLong(row);
      if (beforeLast[bidder] != NONE && time - beforeLast[bidder] < MINUTE) {
        emit(batch, bidder, time, "burst");
      }
      beforeLast[bidder] = last[bidder];
      last[bidder] = time;
      batch.registerEventTimeTimer(bidder, time + MINUTE);
    }
    update(batch, last, beforeLast);
  }

  @Override
  protected void onTimer(HostKeyedBatch timers, TimeDomain domain) {
    long[] last = values(timers, "last");
    long[] beforeLast = values(timers, "before_last");
    ColumnReader times = timers.column(TIMER);
    for (int row = 0; row < timers.rowCount(); row++) {
      int bidder = timers.keyOf(row);
      long time = times.getLong(row);
      if (time == last[bidder] + MINUTE) {
        emit(timers, bidder, time, "gone");
        last[bidder] = NONE;
        beforeLast[bidder] = NONE;
      }
    }
    update(timers, last, beforeLast);
  }

  private static long[] values(HostKeyedBatch batch, String name) {
    ColumnReader column = batch.state(name);
    long[] values = new long[batch.keyCount()];
    Arrays.setAll(values, key -> column.isNull(key) ? NONE : column.getLong(key));
    return values;
  }

  private static void update(HostKeyedBatch batch, long[]... values) {
    for (int column = 0; column < values.length; column++) {
      FixedWidthColumnBuilder state = (FixedWidthColumnBuilder) batch.newState().column(column);
      for (long value : values[column]) {
        if (value == NONE) {
          state.appendNull();
        } else {
          state.appendLong(value);
        }
      }
    }
  }

  private static void emit(HostKeyedBatch batch, int bidder, long time, String what) {
    long id = batch.key("bidder").getLong(bidder);
    ((FixedWidthColumnBuilder) batch.output().column(0)).appendLong(id);
    ((FixedWidthColumnBuilder) batch.output().column(1)).appendLong(time);
    byte[] text = what.getBytes(StandardCharsets.UTF_8);
    ((VariableWidthColumnBuilder) batch.output().column(2)).appendBytes(text);
  }
}
