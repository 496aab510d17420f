// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.operators.state.StateTables;
import io.millrace.state.StateSnapshot;
import io.millrace.state.StateTable;
import io.millrace.state.row.RowRange;
import io.millrace.state.session.SessionCounts;
import io.millrace.state.session.Sessions;
import io.millrace.state.session.Sessions.Slice;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * The state of sessions: a state table for each slice of time, with the end of the slice as its
 * namespace. A slice is as wide as the gap, so that the rows of a key in a slice are in one
 * session. When the watermark has passed the last time of a row of a slice by the gap, its session
 * goes on in the next slice, with which the row is merged, or has ended.
 */
final class SessionTables {
  private final TimeWindow window;
  private final long gap;
  private final Sessions sessions;
  private final StateTables tables;
  private final GpuRetry retry;
  // By the end of a slice: no session with its last time in the slice has an earlier last time.
  private final Map<Long, Long> leastLastTimes = new HashMap<>();
  private long watermark;

  SessionTables(
      TimeWindow window, Sessions sessions, StateTables tables, GpuRetry retry, long watermark) {
    this.window = window;
    this.gap = window.sliceWidth();
    this.sessions = sessions;
    this.tables = tables;
    this.retry = retry;
    this.watermark = watermark;
    refresh();
  }

  /** Takes note of tables that others added or removed. */
  void refresh() {
    leastLastTimes.keySet().retainAll(tables.all().keySet());
    tables.all().keySet().forEach(sliceEnd -> leastLastTimes.put(sliceEnd, Long.MIN_VALUE));
  }

  /** The watermark up to which all sessions have fired. */
  long watermark() {
    return watermark;
  }

  /**
   * When the next session may end at the earliest; empty if there is none, {@code Long.MAX_VALUE}
   * if the gap is so long that the session never ends.
   */
  OptionalLong nextFiringTime() {
    return leastLastTimes.values().stream()
        .mapToLong(last -> endOf(Math.max(last, lastLateTime() + 1)))
        .min();
  }

  private long endOf(long lastTime) {
    return lastTime > Long.MAX_VALUE - gap ? Long.MAX_VALUE : lastTime + gap - 1;
  }

  /** A row of this time or an earlier one would be a session that has ended. */
  long lastLateTime() {
    return lastEndedTime(watermark);
  }

  /** The last time of the sessions that end by a watermark. */
  long lastEndedTime(long newWatermark) {
    return newWatermark < Long.MIN_VALUE + gap ? Long.MIN_VALUE : newWatermark - gap + 1;
  }

  /**
   * Adds rows to a slice. Rows that do not fit the device are added in parts.
   *
   * @param firstTime no row has an earlier time, unless it is late
   */
  void add(long sliceEnd, Table rows, long firstTime) {
    retry.withSplitAndRetry(
        rows,
        part -> {
          StateTable table = tables.forUpdate(sliceEnd);
          table.accumulate(part);
          return table;
        },
        table -> {});
    leastLastTimes.merge(sliceEnd, Math.max(firstTime, sliceEnd - gap), Math::min);
  }

  /**
   * The end of the first slice with rows that are not late; the next one may have late rows too.
   */
  long firstSliceEnd() {
    return window.sliceEnd(lastLateTime() + 1);
  }

  /**
   * Which sessions late rows touch: makes one attempt.
   *
   * @param rows stay the caller's, likewise {@code times}
   * @return for each row 1 if it touches a session of {@link #firstSliceEnd}, 2 if it touches one
   *     of the next slice only, 0 if it touches none; the caller closes the column
   */
  Column touched(Table rows, Column times) {
    return sessions.touched(
        times,
        List.of(
            new Slice(rows, tables.all().get(firstSliceEnd())),
            new Slice(rows, tables.all().get(firstSliceEnd() + gap))));
  }

  /**
   * Hands the sessions that end by a watermark to {@code consumer}, in the order of their last
   * slices and, within a slice, in the order in which their keys came to it.
   *
   * @param consumer takes a table with a row for each session, which is valid until it returns
   */
  void fire(long newWatermark, Consumer<StateTable> consumer) {
    long lastTime = lastEndedTime(newWatermark);
    Long sliceEnd = tables.all().isEmpty() ? null : tables.all().firstKey();
    while (sliceEnd != null && sliceEnd - gap <= lastTime) {
      fire(sliceEnd, lastTime, consumer);
      sliceEnd = tables.all().higherKey(sliceEnd);
    }
    watermark = newWatermark;
  }

  private void fire(long sliceEnd, long lastTime, Consumer<StateTable> consumer) {
    if (leastLastTimes.get(sliceEnd) > lastTime) {
      return;
    }
    StateTable slice = tables.all().get(sliceEnd);
    try (StateTable ended = tables.newTable()) {
      Found found = addTo(ended, slice, sliceEnd, lastTime, false);
      if (found.others > 0) {
        goOn(slice, sliceEnd, lastTime);
      }
      if (found.hasOpen()) {
        clear(slice, lastTime, sessions, retry);
        leastLastTimes.put(sliceEnd, found.nextTime);
      } else {
        tables.remove(sliceEnd);
        leastLastTimes.remove(sliceEnd);
      }
      if (tables.schema().hasValueStrings()) {
        ended.releaseScratch();
      }
      consumer.accept(ended);
    }
  }

  /** What was found beside the rows that were added. */
  static final class Found {
    private long others;
    private long nextTime = Long.MAX_VALUE;

    /** The rows that were not added although their last time has passed. */
    long others() {
      return others;
    }

    /** No session that has not passed has an earlier last time. */
    long nextTime() {
      return nextTime;
    }

    /** Whether there are sessions that have not passed. */
    boolean hasOpen() {
      return nextTime != Long.MAX_VALUE;
    }

    void add(SessionCounts counts) {
      others += counts.others();
      nextTime = Math.min(nextTime, counts.nextTime());
    }
  }

  private Found addTo(
      StateTable target, StateTable slice, long sliceEnd, long lastTime, boolean continued) {
    StateTable next = tables.all().get(sliceEnd + gap);
    return addTo(target, slice, next, lastTime, continued, sessions, retry);
  }

  /** {@link Sessions#add} of all rows of a table. Rows that do not fit are added in parts. */
  static Found addTo(
      StateTable target,
      StateTable slice,
      StateTable next,
      long lastTime,
      boolean continued,
      Sessions sessions,
      GpuRetry retry) {
    Found found = new Found();
    RowRange.forAll(
        slice.rowCount(),
        slice.chunkRows(),
        chunk ->
            retry.withSplitAndRetry(
                chunk,
                rows ->
                    sessions.add(
                        target, slice, rows.first(), rows.count(), lastTime, next, continued),
                found::add));
    return found;
  }

  // Merges the rows with those of the next slice that are of the same sessions.
  private void goOn(StateTable slice, long sliceEnd, long lastTime) {
    long nextEnd = sliceEnd + gap;
    if (!tables.schema().dependsOnOrder()) {
      addTo(tables.forUpdate(nextEnd), slice, sliceEnd, lastTime, true);
      return;
    }
    // The rows of the next slice come behind those of this one.
    StateTable merged = tables.newTable();
    try {
      addTo(merged, slice, sliceEnd, lastTime, true);
      try (StateSnapshot next = retry.withHostRetry(tables.all().get(nextEnd)::snapshot)) {
        for (int extent = 0; extent < next.extentCount(); extent++) {
          int number = extent;
          retry.withRetry(
              () -> {
                merged.merge(next, number);
                return merged;
              });
        }
      }
      merged.releaseScratch();
    } catch (RuntimeException | Error e) {
      merged.close();
      throw e;
    }
    tables.remove(nextEnd);
    tables.put(nextEnd, merged);
  }

  /** {@link Sessions#clear} of all rows of a table. */
  static void clear(StateTable slice, long lastTime, Sessions sessions, GpuRetry retry) {
    RowRange.forAll(
        slice.rowCount(),
        slice.chunkRows(),
        rows ->
            retry.withRetry(
                () -> {
                  sessions.clear(slice, rows.first(), rows.count(), lastTime);
                  return slice;
                }));
  }
}
