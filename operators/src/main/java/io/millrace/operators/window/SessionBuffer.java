// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Table;
import io.millrace.kernel.slice.TimeSlices.TimeRange;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.operators.window.SessionTables.Found;
import io.millrace.operators.window.SliceSplitter.TimedRows;
import io.millrace.state.StateTable;
import io.millrace.state.row.RowRange;
import io.millrace.state.row.StateSchema;
import io.millrace.state.session.Sessions;
import java.util.function.Consumer;

/**
 * The sessions in a {@link SliceBuffer}: those that end by a watermark are one result. While it is
 * not active, they are in the {@link SessionTables}. Late rows look for their sessions there, so
 * that the buffer does not begin again until some batches have none.
 */
final class SessionBuffer {
  private static final int BATCHES_WITHOUT_LATE_ROWS = 16;

  private final TimeWindow window;
  private final SliceBuffer buffer;
  private final Sessions sessions;
  private final SessionTables tables;
  private final GpuRetry retry;
  private int batchesWithoutLateRows = BATCHES_WITHOUT_LATE_ROWS;
  // No session has an earlier last time.
  private long leastLastTime;

  /**
   * Whether sessions may be in a buffer: those of event time, with aggregates that neither depend
   * on the order of rows nor compare values of more than 8 bytes.
   *
   * @param slices their schema; has a {@link SliceBuffer#stateSchema}
   */
  static boolean supports(WindowAggregatePlan plan, StateSchema slices) {
    return plan.window().isSession() && !plan.window().isProcessingTime() && !slices.isOrdered();
  }

  /**
   * @param sessions of one table of the buffer's schema
   * @param tables of the sessions while the buffer is not active
   */
  SessionBuffer(
      TimeWindow window,
      SliceBuffer buffer,
      Sessions sessions,
      SessionTables tables,
      GpuRetry retry) {
    this.window = window;
    this.buffer = buffer;
    this.sessions = sessions;
    this.tables = tables;
    this.retry = retry;
  }

  /** Whether the sessions are here, and not in tables of slices. */
  boolean isActive() {
    return buffer.isActive();
  }

  /**
   * Whether rows with these times, none of which is late, go to the buffer. If not, and it is
   * active, the caller calls {@link #flush}.
   */
  boolean takes(TimeRange times) {
    if (!isActive() && batchesWithoutLateRows < BATCHES_WITHOUT_LATE_ROWS) {
      batchesWithoutLateRows++;
      return false;
    }
    return buffer.takes(times);
  }

  /** Adds rows that {@link #takes} accepts. */
  void add(TimedRows timed) {
    boolean wasActive = isActive();
    buffer.add(timed);
    if (wasActive) {
      leastLastTime = Math.min(leastLastTime, timed.range().first());
    } else {
      leastLastTime = Long.MIN_VALUE;
      tables.refresh();
    }
  }

  /** Moves the sessions to the tables of slices, if the buffer is active. */
  void flush() {
    if (isActive()) {
      // What has passed has ended, or has gone on.
      buffer.flush(sliceEnd -> sliceEnd - 1 <= tables.lastLateTime());
      tables.refresh();
    }
  }

  /** As {@link #flush}, since rows are late. */
  void flushForLateRows() {
    batchesWithoutLateRows = 0;
    flush();
  }

  /**
   * Hands the sessions whose last time is not after {@code lastTime} to {@code consumer}, if the
   * buffer is active, in the order in which their keys came to slices.
   *
   * @param consumer takes a table of the buffer's schema with a row for each session, which is
   *     valid until it returns
   */
  void fire(long lastTime, Consumer<StateTable> consumer) {
    if (!isActive() || lastTime == Long.MIN_VALUE || leastLastTime > lastTime) {
      return;
    }
    StateTable table = buffer.table();
    try (StateTable ended = buffer.newTable()) {
      Found found = addTo(ended, table, lastTime, false);
      if (found.others() > 0) {
        addTo(table, table, lastTime, true);
      }
      clear(table, lastTime);
      leastLastTime = found.nextTime();
      buffer.pass(found.hasOpen() ? window.sliceStart(lastTime + 1) : Long.MAX_VALUE);
      if (ended.rowCount() > 0) {
        consumer.accept(ended);
      }
    }
  }

  /** Rows of sessions that were fired, as in the tables of slices: makes one attempt. */
  Table values(StateTable ended, RowRange rows) {
    return buffer.valuesWithoutStart(ended, rows);
  }

  private Found addTo(StateTable target, StateTable table, long lastTime, boolean continued) {
    Found found = new Found();
    RowRange.forAll(
        table.rowCount(),
        table.chunkRows(),
        chunk ->
            retry.withSplitAndRetry(
                chunk,
                rows ->
                    sessions.add(
                        target, table, rows.first(), rows.count(), lastTime, table, continued),
                found::add));
    return found;
  }

  private void clear(StateTable table, long lastTime) {
    RowRange.forAll(
        table.rowCount(),
        table.chunkRows(),
        rows ->
            retry.withRetry(
                () -> {
                  sessions.clear(table, rows.first(), rows.count(), lastTime);
                  return table;
                }));
  }
}
