// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Table;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.operators.state.StateTables;
import io.millrace.operators.window.TimeWindow.Function;
import io.millrace.state.StateSnapshot;
import io.millrace.state.StateTable;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.stream.LongStream;

/**
 * The state of windows: a state table for each slice of time, with the end of the slice as its
 * namespace. The slices of a CUMULATE whose windows have fired are one table, that of the first
 * slice, since no later window is without them; with allowed lateness all slices stay apart.
 */
final class SliceTables {
  private final TimeWindow window;
  private final FiringTimes firingTimes;
  private final long allowedLateness;
  private final StateTables tables;
  private final GpuRetry retry;
  private long watermark;
  // The end of the last window that fired by a watermark that is not passed completely.
  private long lastFired = Long.MIN_VALUE;

  /**
   * @param allowedLateness how long windows stay behind their end, in milliseconds
   * @param watermark the watermark or the processing time up to which windows have fired
   */
  SliceTables(
      TimeWindow window,
      FiringTimes firingTimes,
      long allowedLateness,
      StateTables tables,
      GpuRetry retry,
      long watermark) {
    this.window = window;
    this.firingTimes = firingTimes;
    this.allowedLateness = allowedLateness;
    this.tables = tables;
    this.retry = retry;
    this.watermark = watermark;
  }

  /** The watermark, or the processing time, up to which all windows have fired. */
  long watermark() {
    return watermark;
  }

  /** Whether a window has fired. */
  boolean hasFired(long windowEnd) {
    return windowEnd <= lastFired || firesAt(windowEnd, watermark);
  }

  /** Whether a window fires before or at {@code newWatermark}, or has fired. */
  boolean firesAt(long windowEnd, long newWatermark) {
    return firingTimes.of(windowEnd) <= newWatermark;
  }

  /** Whether no window with a slice takes rows any more. */
  boolean isLate(long sliceEnd) {
    return isClosed(window.lastWindowEnd(sliceEnd));
  }

  /**
   * The start of the first slice that is not late, since a later slice never is earlier.
   *
   * @param firstStart the start of the first slice that is looked at
   * @param lastStart of the last one; the slice behind it is the result if all are late
   */
  long firstStartInTime(long firstStart, long lastStart) {
    long width = window.sliceWidth();
    long low = 0;
    long high = Long.divideUnsigned(lastStart - firstStart, width) + 1;
    while (low != high) {
      long middle = low + ((high - low) >>> 1);
      if (isLate(firstStart + middle * width + width)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return firstStart + low * width;
  }

  // Whether a window has fired, and its lateness has passed.
  private boolean isClosed(long windowEnd) {
    if (allowedLateness == 0) {
      return hasFired(windowEnd);
    }
    long firingTime = firingTimes.of(windowEnd);
    long latest = Long.MAX_VALUE - allowedLateness;
    return firingTime <= latest && firingTime + allowedLateness <= watermark;
  }

  /** Takes the changes of a window. */
  @FunctionalInterface
  interface ChangesConsumer {
    /** Takes what {@link StateTable#update(Table)} gives, and closes it. */
    void accept(long windowEnd, Table changes);
  }

  /**
   * Adds rows to a slice that is not late. With allowed lateness, hands the changes of each window
   * with the slice to {@code consumer} that has fired and still takes rows, in the order of their
   * ends. Rows that do not fit the device are added in parts.
   */
  void add(long sliceEnd, Table rows, ChangesConsumer consumer) {
    List<Long> fired = firedWindowEnds(sliceEnd);
    if (window.function() == Function.TUMBLE && !fired.isEmpty()) {
      retry.withSplitAndRetry(
          rows,
          part -> forUpdate(sliceEnd).update(part),
          changes -> consumer.accept(sliceEnd, changes));
      return;
    }
    for (long windowEnd : fired) {
      try (StateTable merged = merged(windowEnd)) {
        retry.withSplitAndRetry(
            rows, merged::update, changes -> consumer.accept(windowEnd, changes));
      }
    }
    retry.withSplitAndRetry(rows, part -> accumulate(sliceEnd, part), table -> {});
  }

  private StateTable accumulate(long sliceEnd, Table rows) {
    StateTable table = forUpdate(sliceEnd);
    table.accumulate(rows);
    return table;
  }

  /** The table of a slice that is not late, for updates; an empty one if there was none. */
  StateTable forUpdate(long sliceEnd) {
    boolean isMerged = mergesFiredSlices() && hasFired(sliceEnd);
    return tables.forUpdate(isMerged ? window.firstSliceEnd(sliceEnd) : sliceEnd);
  }

  private boolean mergesFiredSlices() {
    return window.function() == Function.CUMULATE && allowedLateness == 0;
  }

  /** The ends of the windows with a slice that have fired and still take rows, in their order. */
  List<Long> firedWindowEnds(long sliceEnd) {
    return allowedLateness == 0
        ? List.of()
        : windowEnds(sliceEnd)
            .takeWhile(this::hasFired)
            .filter(end -> !isClosed(end))
            .boxed()
            .toList();
  }

  /** The ends of the windows with a slice that take rows, in their order. */
  List<Long> openWindowEnds(long sliceEnd) {
    return windowEnds(sliceEnd).filter(end -> !isClosed(end)).boxed().toList();
  }

  private LongStream windowEnds(long sliceEnd) {
    long last = window.lastWindowEnd(sliceEnd);
    return LongStream.iterate(
        sliceEnd,
        // Behind the last number comes the least one.
        end -> sliceEnd <= end && end <= last,
        end -> end + window.sliceWidth());
  }

  /** The end of the next window that fires before or at {@code newWatermark}, if there is one. */
  OptionalLong nextWindowEnd(long newWatermark) {
    for (long sliceEnd : tables.all().keySet()) {
      if (!hasFired(window.lastWindowEnd(sliceEnd))) {
        long windowEnd = firstOpenWindowEnd(sliceEnd);
        return firesAt(windowEnd, newWatermark) ? OptionalLong.of(windowEnd) : OptionalLong.empty();
      }
    }
    return OptionalLong.empty();
  }

  /** The end of the first window with a slice that has not fired; there is one. */
  long firstOpenWindowEnd(long sliceEnd) {
    long windowEnd = sliceEnd;
    while (hasFired(windowEnd)) {
      windowEnd += window.sliceWidth();
    }
    return windowEnd;
  }

  /** When the next window fires, if there is one. */
  OptionalLong nextFiringTime() {
    OptionalLong windowEnd = nextWindowEnd(Long.MAX_VALUE);
    return windowEnd.isPresent()
        ? OptionalLong.of(firingTimes.of(windowEnd.getAsLong()))
        : OptionalLong.empty();
  }

  /** Takes the rows of a window. */
  @FunctionalInterface
  interface WindowConsumer {
    /** Takes a table with the rows of a window, which is valid until this returns. */
    void accept(StateTable rows);
  }

  /**
   * Hands the rows of a window to {@code consumer}, and drops the slices that are late behind it.
   *
   * @param windowEnd of {@link #nextWindowEnd}
   */
  void fire(long windowEnd, WindowConsumer consumer) {
    SortedMap<Long, StateTable> slices = slices(windowEnd);
    if (mergesFiredSlices()) {
      consumer.accept(cumulate(windowEnd));
    } else if (slices.size() == 1) {
      consumer.accept(slices.get(slices.firstKey()));
    } else {
      try (StateTable merged = merged(windowEnd)) {
        consumer.accept(merged);
      }
    }
    end(windowEnd);
  }

  /** As {@link #fire}, of a window whose rows have been emitted. */
  void pass(long windowEnd) {
    if (mergesFiredSlices()) {
      cumulate(windowEnd);
    }
    end(windowEnd);
  }

  private void end(long windowEnd) {
    lastFired = windowEnd;
    dropLateSlices();
  }

  /** The rows of a window in a table of their own, which the caller closes. */
  StateTable merged(long windowEnd) {
    return retry.withRetry(() -> merge(slices(windowEnd).values(), tables.newTable()));
  }

  private SortedMap<Long, StateTable> slices(long windowEnd) {
    return tables.all().subMap(window.firstSliceEnd(windowEnd), true, windowEnd, true);
  }

  private void dropLateSlices() {
    while (!tables.all().isEmpty() && isLate(tables.all().firstKey())) {
      tables.remove(tables.all().firstKey());
    }
  }

  /** Ends the firing of windows by a watermark, and drops the slices that are late behind it. */
  void advance(long newWatermark) {
    watermark = newWatermark;
    lastFired = Long.MIN_VALUE;
    dropLateSlices();
  }

  /**
   * Merges tables: makes one attempt.
   *
   * @param merged an empty table with their schema; closed if the attempt fails
   * @return {@code merged}
   */
  static StateTable merge(Collection<StateTable> slices, StateTable merged) {
    try {
      for (StateTable slice : slices) {
        try (StateSnapshot rows = slice.snapshot()) {
          for (int extent = 0; extent < rows.extentCount(); extent++) {
            merged.merge(rows, extent);
          }
        }
      }
      merged.releaseScratch();
      return merged;
    } catch (RuntimeException | Error e) {
      merged.close();
      throw e;
    }
  }

  private StateTable cumulate(long windowEnd) {
    long first = window.firstSliceEnd(windowEnd);
    StateTable slice = tables.all().get(windowEnd);
    if (slice != null && first != windowEnd) {
      if (tables.all().containsKey(first)) {
        mergeInto(first, slice);
        tables.remove(windowEnd);
      } else {
        tables.move(windowEnd, first);
      }
    }
    return tables.all().get(first);
  }

  private void mergeInto(long first, StateTable slice) {
    try (StateSnapshot rows = retry.withHostRetry(slice::snapshot)) {
      for (int extent = 0; extent < rows.extentCount(); extent++) {
        int merged = extent;
        retry.withRetry(
            () -> {
              StateTable target = tables.forUpdate(first);
              target.merge(rows, merged);
              return target;
            });
      }
    }
  }
}
