// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.kernel.slice.TimeSlices.TimeRange;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.operators.window.SessionTables.Found;
import io.millrace.operators.window.SliceSplitter.TimedRows;
import io.millrace.state.StateTable;
import io.millrace.state.row.RowRange;
import io.millrace.state.row.StateSchema;
import io.millrace.state.session.Sessions;
import io.millrace.state.session.Sessions.Slice;
import java.util.List;
import java.util.function.Consumer;

/**
 * The sessions in a {@link SliceBuffer}: those that end by a watermark are one result. While it is
 * not active, they are in the {@link SessionTables}.
 */
final class SessionBuffer {
  // Rows that pass are followed from slice to slice, each of them.
  private static final int MAX_PASSED_SLICES = 256;

  private final TimeWindow window;
  private final SliceBuffer buffer;
  private final Sessions sessions;
  private final SessionTables tables;
  private final GpuRetry retry;
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

  /** As {@link SessionTables#touched}; the buffer is active. */
  Column touched(Table rows, Column times) {
    long sliceEnd = tables.firstSliceEnd();
    try (Table ofFirst = buffer.withStart(rows, sliceEnd);
        Table ofNext = buffer.withStart(rows, sliceEnd + window.sliceWidth())) {
      StateTable table = buffer.table();
      return sessions.touched(times, List.of(new Slice(ofFirst, table), new Slice(ofNext, table)));
    }
  }

  /** Adds late rows that touch a session of a slice; the buffer is active. */
  void addLate(long sliceEnd, Table rows) {
    buffer.add(sliceEnd, rows);
  }

  /**
   * Hands the sessions whose last time is not after {@code lastTime} to {@code consumer}, if the
   * buffer is active, up to some slices at a time, in the order in which their keys came to slices.
   * A key that begins again in a slice has its place there.
   *
   * @param consumer takes a table of the buffer's schema with a row for each session, which is
   *     valid until it returns
   */
  void fire(long lastTime, Consumer<StateTable> consumer) {
    while (isActive() && lastTime >= buffer.firstStart() && leastLastTime <= lastTime) {
      long width = window.sliceWidth();
      boolean isInLaterSlice = leastLastTime > buffer.firstStart();
      long first = isInLaterSlice ? window.sliceStart(leastLastTime) : buffer.firstStart();
      long slices = Long.divideUnsigned(lastTime - first, width);
      boolean areAll = Long.compareUnsigned(slices, MAX_PASSED_SLICES) < 0;
      pass(areAll ? lastTime : first + MAX_PASSED_SLICES * width - 1, consumer);
    }
  }

  private void pass(long lastTime, Consumer<StateTable> consumer) {
    StateTable table = buffer.table();
    try (StateTable ended = buffer.newTable()) {
      Found found = addTo(ended, lastTime, false);
      if (found.others() > 0) {
        addTo(table, lastTime, true);
      }
      if (found.others() > 0 || ended.rowCount() > 0) {
        SessionTables.clear(table, lastTime, sessions, retry);
      }
      leastLastTime = found.nextTime();
      if (ended.rowCount() > 0) {
        consumer.accept(ended);
      }
      buffer.pass(found.hasOpen() ? window.sliceStart(lastTime + 1) : Long.MAX_VALUE);
    }
  }

  private Found addTo(StateTable target, long lastTime, boolean continued) {
    StateTable table = buffer.table();
    return SessionTables.addTo(target, table, table, lastTime, continued, sessions, retry);
  }

  /** Rows of sessions that were fired, as in the tables of slices: makes one attempt. */
  Table values(StateTable ended, RowRange rows) {
    return buffer.valuesWithoutStart(ended, rows);
  }
}
