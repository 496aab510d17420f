// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Table;
import io.millrace.kernel.slice.TimeSlices.TimeRange;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.window.SliceSplitter.TimedRows;
import io.millrace.operators.window.TimeWindow.Function;
import io.millrace.state.KeyRange;
import io.millrace.state.StateTable;
import io.millrace.state.row.RowRange;
import io.millrace.state.row.StateSchema;
import java.util.List;

/**
 * The rows of TUMBLE and HOP in a {@link SliceBuffer}: the windows that end by a watermark are one
 * result. While it is not active, the rows are in the {@link SliceTables}.
 */
final class WindowBuffer {
  // In one result.
  private static final int MAX_WINDOWS = 1024;

  private final TimeWindow window;
  private final boolean isUsed;
  private final long width;
  private final SliceBuffer buffer;
  private final SliceTables slices;
  private final DeviceContext context;

  /** Takes the rows of windows. */
  @FunctionalInterface
  interface WindowsConsumer {
    /**
     * Takes rows with the columns of {@link StateSchema#changes} and, behind the keys, the start of
     * the last slice of the row's window.
     *
     * @param rows what {@code values} takes
     * @param values gives rows, which the consumer closes; makes one attempt
     * @param firstEnd the end of the first window
     * @param windows how many windows there are from then on
     */
    void accept(
        RowRange rows,
        java.util.function.Function<RowRange, Table> values,
        long firstEnd,
        int windows);
  }

  /**
   * Whether rows may move between a buffer and slices: for TUMBLE and HOP of event time without
   * early results, and aggregates that neither depend on the order of rows nor compare values of
   * more than 8 bytes. Only without allowed lateness does the buffer take rows.
   *
   * @param slices their schema; has a {@link SliceBuffer#stateSchema}
   */
  static boolean supports(WindowAggregatePlan plan, StateSchema slices) {
    Function function = plan.window().function();
    return !plan.window().isProcessingTime()
        && (function == Function.TUMBLE || function == Function.HOP)
        && !plan.isEarly()
        && !slices.isOrdered();
  }

  WindowBuffer(
      WindowAggregatePlan plan, SliceBuffer buffer, SliceTables slices, DeviceContext context) {
    this.window = plan.window();
    this.isUsed = plan.allowedLateness().isZero();
    this.width = window.sliceWidth();
    this.buffer = buffer;
    this.slices = slices;
    this.context = context;
  }

  /** Whether the rows are here, and not in the tables of slices. */
  boolean isActive() {
    return buffer.isActive();
  }

  /**
   * Whether rows with these times, none of which is late, go to the buffer. If not, and it is
   * active, the caller calls {@link #flush}.
   */
  boolean takes(TimeRange times) {
    return isUsed && buffer.takes(times);
  }

  /** Adds rows that {@link #takes} accepts. */
  void add(TimedRows timed) {
    buffer.add(timed);
  }

  /** Moves the rows to the tables of slices, if the buffer is active. */
  void flush() {
    buffer.flush(slices::isLate);
  }

  /**
   * Moves the rows that a subtask had in its buffer to the tables of slices.
   *
   * @param watermark of the subtask: rows of slices that were late are left out
   */
  void restore(long watermark) {
    buffer.flush(sliceEnd -> slices.firesAt(window.lastWindowEnd(sliceEnd), watermark));
  }

  /** Fires the windows that end by a watermark, if the buffer is active. */
  void fire(long newWatermark, WindowsConsumer consumer) {
    while (isActive()) {
      long firstEnd = slices.firstOpenWindowEnd(buffer.firstStart() + width);
      int windows = 0;
      while (windows < MAX_WINDOWS
          && firstEnd + windows * width <= window.lastWindowEnd(buffer.lastStart() + width)
          && slices.firesAt(firstEnd + windows * width, newWatermark)) {
        windows++;
      }
      if (windows == 0) {
        return;
      }
      long lastEnd = firstEnd + (windows - 1) * width;
      fire(firstEnd, lastEnd, windows, consumer);
      slices.pass(lastEnd);
      buffer.pass(lastEnd - window.size() + width);
    }
  }

  private void fire(long firstEnd, long lastEnd, int windows, WindowsConsumer consumer) {
    KeyRange lastSlices = new KeyRange(firstEnd - width, lastEnd);
    StateTable table = buffer.table();
    if (window.size() == width) {
      RowRange.forAll(
          table.rowCount(),
          table.chunkRows(),
          rows ->
              consumer.accept(
                  rows,
                  part -> lastSlices.values(table, part.first(), part.count()),
                  firstEnd,
                  windows));
      return;
    }
    try (StateTable merged = context.retry().withRetry(() -> merge(lastSlices))) {
      RowRange.forAll(
          merged.rowCount(),
          WindowResults.MAX_RESULT_ROWS,
          rows ->
              consumer.accept(
                  rows,
                  part -> merged.values(part.first(), part.count(), List.of()),
                  firstEnd,
                  windows));
    }
  }

  // The rows of windows: each slice is part of several, which are told by their last slices.
  private StateTable merge(KeyRange lastSlices) {
    StateTable merged = buffer.newTable();
    try {
      for (long distance = 0; distance < window.size(); distance += width) {
        KeyRange range = new KeyRange(lastSlices.first() - distance, lastSlices.end() - distance);
        if (range.first() <= buffer.lastStart() && range.end() > buffer.firstStart()) {
          buffer.copy(range, distance, merged);
        }
      }
      return merged;
    } catch (RuntimeException | Error e) {
      merged.close();
      throw e;
    }
  }
}
