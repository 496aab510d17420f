// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.Schema;
import java.time.Duration;
import org.apache.flink.streaming.api.TimeDomain;

/**
 * Sets a timer of each key {@code k} for each row, at {@code time}, or deletes it, as {@code
 * action} says; emits each timer that is due, with the number of timers of the key that were due
 * before. A timer at a multiple of 10 sets another one, 3 ms later, and one at a multiple of 7
 * clears the number.
 */
public final class Reminders extends HostKeyedFunction {
  private static final long serialVersionUID = 1L;

  public static final byte SET = 0;
  public static final byte DELETE = 1;

  public static final Schema ROWS =
      Schema.of(
          Field.of("k", DataType.INT64),
          new Field("time", DataType.INT64, false),
          new Field("action", DataType.INT8, false));

  private final long slices;
  private final boolean isProcessingTime;

  public Reminders(long slices, boolean isProcessingTime) {
    this.slices = slices;
    this.isProcessingTime = isProcessingTime;
  }

  @Override
  public Schema outputSchema(Schema input) {
    return Schema.of(
        Field.of("k", DataType.INT64),
        new Field("time", DataType.INT64, false),
        new Field("before", DataType.INT32, false));
  }

  @Override
  public Schema stateSchema(Schema input) {
    return Schema.of(Field.of("due", DataType.INT32));
  }

  @Override
  public Duration timerSlices() {
    return Duration.ofMillis(slices);
  }

  @Override
  protected void process(HostKeyedBatch batch) {
    ColumnReader times = batch.column("time");
    ColumnReader actions = batch.column("action");
    for (int row = 0; row < batch.rowCount(); row++) {
      int key = batch.keyOf(row);
      if (actions.getByte(row) == SET) {
        register(batch, key, times.getLong(row));
      } else if (isProcessingTime) {
        batch.deleteProcessingTimeTimer(key, times.getLong(row));
      } else {
        batch.deleteEventTimeTimer(key, times.getLong(row));
      }
    }
  }

  private void register(HostKeyedBatch batch, int key, long time) {
    if (isProcessingTime) {
      batch.registerProcessingTimeTimer(key, time);
    } else {
      batch.registerEventTimeTimer(key, time);
    }
  }

  @Override
  protected void onTimer(HostKeyedBatch timers, TimeDomain domain) {
    if ((domain == TimeDomain.PROCESSING_TIME) != isProcessingTime) {
      throw new IllegalStateException("expected no timers of " + domain);
    }
    ColumnReader times = timers.column(TIMER);
    ColumnReader before = timers.state("due");
    FixedWidthColumnBuilder after = (FixedWidthColumnBuilder) timers.newState().column(0);
    for (int row = 0; row < timers.rowCount(); row++) {
      int key = timers.keyOf(row);
      long time = times.getLong(row);
      int due = before.isNull(key) ? 0 : before.getInt(key);
      emit(timers, key, time, due);
      if (time % 7 == 0) {
        after.appendNull();
      } else {
        after.appendInt(due + 1);
      }
      if (time % 10 == 0) {
        register(timers, key, time + 3);
      }
    }
  }

  private static void emit(HostKeyedBatch timers, int key, long time, int due) {
    ColumnReader keys = timers.key("k");
    if (keys.isNull(key)) {
      timers.output().column(0).appendNull();
    } else {
      ((FixedWidthColumnBuilder) timers.output().column(0)).appendLong(keys.getLong(key));
    }
    ((FixedWidthColumnBuilder) timers.output().column(1)).appendLong(time);
    ((FixedWidthColumnBuilder) timers.output().column(2)).appendInt(due);
  }
}
