// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.slice.TimeSlices;
import io.millrace.kernel.slice.TimeSlices.TimeRange;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.StateTables;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.window.SliceSplitter.TimedRows;
import io.millrace.operators.window.TimeWindow.Function;
import io.millrace.state.KeyRange;
import io.millrace.state.StateTable;
import io.millrace.state.row.RowRange;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The rows of windows while batches have rows of many slices: one state table, whose last key
 * column is the start of a row's slice. So a batch is one update, and the windows that end by a
 * watermark are one result. All rows are here, or all are in the {@link SliceTables}. After a
 * restore they are there; the next batch with many slices takes them.
 *
 * <p>Rows of slices that are late stay until most rows are of such slices.
 */
final class WindowBuffer {
  // From the first to the last slice.
  private static final int MAX_SLICES = 1 << 16;
  // In one result.
  private static final int MAX_WINDOWS = 1024;

  // A batch with fewer slices does not begin to use the buffer.
  private static final int MIN_SLICES = 4;
  private static final long MAX_ROWS = 1 << 20;
  private static final long MIN_COMPACTED_ROWS = 1 << 12;

  /** The last key column of the buffer. */
  static final Field SLICE_START = new Field("$slice_start", DataType.timestamp(3), false);

  private final TimeWindow window;
  private final boolean isUsed;
  private final long width;
  private final StateTables buffered;
  private final StateTables tables;
  private final SliceTables slices;
  private final BufferMoves moves;
  private final DeviceContext context;
  // The starts of slices of which there may be rows that are not late.
  private long firstStart;
  private long lastStart;
  private long nextCompaction = MIN_COMPACTED_ROWS;

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
   * The schema of the buffer's state: that of slices, with the start of the slice behind the keys.
   * Empty if the keys have too many words.
   */
  static Optional<StateSchema> stateSchema(StateSchema slices) {
    if (slices.firstAccumulator() >= StateSchema.MAX_KEY_WORDS) {
      return Optional.empty();
    }
    Schema input = slices.input().with(SLICE_START);
    List<Integer> keys = new ArrayList<>(slices.keys());
    keys.add(slices.input().size());
    return Optional.of(new StateSchema(input, keys, slices.accumulators(), slices.kindColumn()));
  }

  /**
   * Whether rows may move between a buffer and slices: for TUMBLE and HOP of event time without
   * early results, and aggregates that neither depend on the order of rows nor compare values of
   * more than 8 bytes. Only without allowed lateness does the buffer take rows.
   *
   * @param slices their schema; has a {@link #stateSchema}
   */
  static boolean supports(WindowAggregatePlan plan, StateSchema slices) {
    Function function = plan.window().function();
    return !plan.window().isProcessingTime()
        && (function == Function.TUMBLE || function == Function.HOP)
        && !plan.isEarly()
        && !slices.isOrdered();
  }

  /**
   * @param buffered of {@link #stateSchema}; stays the caller's, likewise {@code tables} and {@code
   *     transfer}
   * @param tables of the slices
   */
  WindowBuffer(
      WindowAggregatePlan plan,
      StateTables buffered,
      StateTables tables,
      SliceTables slices,
      SliceSplitter splitter,
      HostTransfer transfer,
      DeviceContext context) {
    this.window = plan.window();
    this.isUsed = plan.allowedLateness().isZero();
    this.width = window.sliceWidth();
    this.buffered = buffered;
    this.tables = tables;
    this.slices = slices;
    this.moves = new BufferMoves(window, tables, splitter, transfer, context);
    this.context = context;
  }

  /** Whether the rows are here, and not in the tables of slices. */
  boolean isActive() {
    return !buffered.all().isEmpty();
  }

  // Of an active buffer.
  private StateTable table() {
    return buffered.all().get(StateTables.ONLY);
  }

  /**
   * Whether rows with these times go to the buffer. If not, and it is active, the caller calls
   * {@link #flush}.
   */
  boolean takes(TimeRange times) {
    long first = window.sliceStart(times.first());
    long last = window.sliceStart(times.last());
    boolean isLate = slices.isLate(first + width);
    if (isActive()) {
      return table().rowCount() <= MAX_ROWS
          && isNear(isLate ? firstStart : Math.min(first, firstStart), Math.max(last, lastStart));
    }
    if (!isUsed || isLate || Long.divideUnsigned(last - first, width) < MIN_SLICES - 1) {
      return false;
    }
    if (!tables.all().isEmpty()) {
      first = Math.min(first, tables.all().firstKey() - width);
      last = Math.max(last, tables.all().lastKey() - width);
    }
    // So that rows do not move to and fro.
    return tables.rowCount() <= MAX_ROWS / 2 && isNear(first, last);
  }

  // The ends of windows are milliseconds of a BIGINT, also behind the last slice.
  private boolean isNear(long first, long last) {
    long size = window.size();
    return Long.divideUnsigned(last - first, width) < MAX_SLICES
        && last <= Long.MAX_VALUE - 2 * Math.min(size, Long.MAX_VALUE / 4)
        && size < Long.MAX_VALUE / 4;
  }

  /** Adds rows that {@link #takes} accepts and of which none is late. */
  void add(TimedRows timed) {
    long first = window.sliceStart(timed.range().first());
    long last = window.sliceStart(timed.range().last());
    if (isActive()) {
      note(first, last);
    } else {
      begin(first, last);
    }
    context
        .retry()
        .withSplitAndRetry(timed.rows(), part -> accumulate(part, first), accumulated -> {});
  }

  private void note(long first, long last) {
    firstStart = Math.min(firstStart, first);
    lastStart = Math.max(lastStart, last);
  }

  private StateTable accumulate(SliceRows rows, long start) {
    try (Column starts =
            TimeSlices.starts(rows.times(), start, width, context.stream(), context.resource());
        Table withStarts = withStarts(rows.arguments(), starts)) {
      return accumulate(withStarts);
    }
  }

  private StateTable accumulate(Table withStarts) {
    StateTable table = buffered.forUpdate(StateTables.ONLY);
    table.accumulate(withStarts);
    return table;
  }

  private Table withStarts(Table arguments, Column starts) {
    int last = arguments.columnCount();
    return Table.of(
        buffered.schema().input(),
        arguments.rowCount(),
        i -> (i < last ? arguments.column(i) : starts).share());
  }

  /** Adds rows of a slice that is not late; the buffer is active. */
  void add(long sliceEnd, Table arguments) {
    long start = sliceEnd - width;
    note(start, start);
    context
        .retry()
        .withSplitAndRetry(
            arguments,
            part -> {
              try (Table withStarts = moves.withStart(part, start)) {
                return accumulate(withStarts);
              }
            },
            accumulated -> {});
  }

  // Takes the rows of the tables of slices.
  private void begin(long first, long last) {
    firstStart = first;
    lastStart = last;
    nextCompaction = MIN_COMPACTED_ROWS;
    for (long sliceEnd : tables.all().keySet()) {
      note(sliceEnd - width, sliceEnd - width);
    }
    moves.fromSlices(buffered.forUpdate(StateTables.ONLY));
  }

  /** Moves the rows to the tables of slices, if the buffer is active. */
  void flush() {
    if (isActive()) {
      moves.toSlices(table(), slices::isLate);
      end();
    }
  }

  /**
   * Moves the rows that a subtask had in its buffer to the tables of slices.
   *
   * @param watermark of the subtask: rows of slices that were late are left out
   */
  void restore(long watermark) {
    if (isActive()) {
      moves.toSlices(
          table(), sliceEnd -> slices.firesAt(window.lastWindowEnd(sliceEnd), watermark));
      end();
    }
  }

  private void end() {
    buffered.remove(StateTables.ONLY);
  }

  /** Fires the windows that end by a watermark, if the buffer is active. */
  void fire(long newWatermark, WindowsConsumer consumer) {
    while (isActive()) {
      long firstEnd = slices.firstOpenWindowEnd(firstStart + width);
      int windows = 0;
      while (windows < MAX_WINDOWS
          && firstEnd + windows * width <= window.lastWindowEnd(lastStart + width)
          && slices.firesAt(firstEnd + windows * width, newWatermark)) {
        windows++;
      }
      if (windows == 0) {
        return;
      }
      long lastEnd = firstEnd + (windows - 1) * width;
      fire(firstEnd, lastEnd, windows, consumer);
      slices.pass(lastEnd);
      firstStart = Math.max(firstStart, lastEnd - window.size() + width);
      if (firstStart > lastStart) {
        end();
      } else {
        compact();
      }
    }
  }

  private void fire(long firstEnd, long lastEnd, int windows, WindowsConsumer consumer) {
    KeyRange lastSlices = new KeyRange(firstEnd - width, lastEnd);
    StateTable table = table();
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
    StateTable merged = buffered.newTable();
    try {
      for (long distance = 0; distance < window.size(); distance += width) {
        KeyRange range = new KeyRange(lastSlices.first() - distance, lastSlices.end() - distance);
        if (range.first() <= lastStart && range.end() > firstStart) {
          copy(range, distance, merged);
        }
      }
      return merged;
    } catch (RuntimeException | Error e) {
      merged.close();
      throw e;
    }
  }

  private void copy(KeyRange range, long added, StateTable target) {
    StateTable table = table();
    RowRange.forAll(
        table.rowCount(),
        table.chunkRows(),
        rows -> range.copy(table, rows.first(), rows.count(), added, target));
  }

  // Gives up rows of late slices, if these are at least half of the rows.
  private void compact() {
    StateTable table = table();
    if (table.rowCount() < nextCompaction) {
      return;
    }
    KeyRange open = new KeyRange(firstStart, lastStart + width);
    long[] openRows = {0};
    RowRange.forAll(
        table.rowCount(),
        table.chunkRows(),
        rows ->
            openRows[0] +=
                context.retry().withRetry(() -> open.count(table, rows.first(), rows.count())));
    if (openRows[0] <= table.rowCount() / 2) {
      StateTable compacted = context.retry().withRetry(() -> copyOf(open));
      end();
      buffered.put(StateTables.ONLY, compacted);
    }
    nextCompaction = Math.max(table().rowCount() + openRows[0], MIN_COMPACTED_ROWS);
  }

  private StateTable copyOf(KeyRange open) {
    StateTable copy = buffered.newTable();
    try {
      copy(open, 0, copy);
      return copy;
    } catch (RuntimeException | Error e) {
      copy.close();
      throw e;
    }
  }
}
