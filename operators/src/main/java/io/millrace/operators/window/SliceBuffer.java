// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.kernel.slice.TimeSlices;
import io.millrace.kernel.slice.TimeSlices.TimeRange;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.StateTables;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.window.SliceSplitter.TimedRows;
import io.millrace.state.KeyRange;
import io.millrace.state.StateTable;
import io.millrace.state.row.RowRange;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rows of windows while batches have rows of many slices: one state table, whose last key column is
 * the start of a row's slice, so that a batch is one update. All rows are here, or all are in the
 * tables of slices. After a restore they are there; the next batch with many slices takes them.
 *
 * <p>Rows of slices that have passed stay until most rows are of such slices.
 */
final class SliceBuffer {
  /** The name of its state in checkpoints. */
  static final String STATE = "buffer";

  /** The last key column. */
  static final Field SLICE_START = new Field("$slice_start", DataType.timestamp(3), false);

  // From the first to the last slice.
  private static final int MAX_SLICES = 1 << 16;
  // A batch with fewer slices does not begin to use the buffer.
  private static final int MIN_SLICES = 4;
  private static final long MAX_ROWS = 1 << 20;
  private static final long MIN_COMPACTED_ROWS = 1 << 12;

  private static final Logger LOG = LoggerFactory.getLogger(SliceBuffer.class);

  private final TimeWindow window;
  private final long width;
  private final StateTables buffered;
  private final StateTables tables;
  private final BufferMoves moves;
  private final DeviceContext context;
  // The starts of slices of which there may be rows that have not passed.
  private long firstStart;
  private long lastStart;
  private long nextCompaction = MIN_COMPACTED_ROWS;

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

  /** The state of a buffer beside that of slices, by its name. */
  static Map<String, StateSchema> stateSchemas(StateSchema slices) {
    return stateSchema(slices).map(schema -> Map.of(STATE, schema)).orElse(Map.of());
  }

  /**
   * @param buffered of {@link #stateSchema}; stays the caller's, likewise {@code tables} and {@code
   *     transfer}
   * @param tables of the slices
   */
  SliceBuffer(
      TimeWindow window,
      StateTables buffered,
      StateTables tables,
      SliceSplitter splitter,
      HostTransfer transfer,
      DeviceContext context) {
    this.window = window;
    this.width = window.sliceWidth();
    this.buffered = buffered;
    this.tables = tables;
    this.moves = new BufferMoves(window, tables, splitter, transfer, context);
    this.context = context;
  }

  /** Whether the rows are here, and not in the tables of slices. */
  boolean isActive() {
    return !buffered.all().isEmpty();
  }

  StateSchema schema() {
    return buffered.schema();
  }

  /** The table of an active buffer, valid until rows are added, passed or flushed. */
  StateTable table() {
    return buffered.all().get(StateTables.ONLY);
  }

  /** An empty table of the schema; the caller closes it. */
  StateTable newTable() {
    return buffered.newTable();
  }

  /** The start of the first slice of which an active buffer may have rows that have not passed. */
  long firstStart() {
    return firstStart;
  }

  /** The start of the last slice of which an active buffer may have rows. */
  long lastStart() {
    return lastStart;
  }

  /**
   * Whether rows with these times, of slices that have not passed, go to the buffer. If not, and it
   * is active, the caller calls {@link #flush}.
   */
  boolean takes(TimeRange times) {
    long first = window.sliceStart(times.first());
    long last = window.sliceStart(times.last());
    if (isActive()) {
      return table().rowCount() <= MAX_ROWS
          && isNear(Math.min(first, firstStart), Math.max(last, lastStart));
    }
    if (Long.divideUnsigned(last - first, width) < MIN_SLICES - 1) {
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

  /** Adds rows that {@link #takes} accepts. */
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

  /** Adds rows of a slice that has not passed; the buffer is active. */
  void add(long sliceEnd, Table arguments) {
    long start = sliceEnd - width;
    note(start, start);
    context
        .retry()
        .withSplitAndRetry(
            arguments,
            part -> {
              try (Table withStart = withStart(part, sliceEnd)) {
                return accumulate(withStart);
              }
            },
            accumulated -> {});
  }

  /** Rows of the table's input, of the arguments of rows of a slice: makes one attempt. Waits. */
  Table withStart(Table arguments, long sliceEnd) {
    return moves.withStart(arguments, sliceEnd - width);
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

  /** Rows of a table of the schema, without the start of their slices: makes one attempt. */
  Table valuesWithoutStart(StateTable table, RowRange rows) {
    try (Table values = table.values(rows.first(), rows.count(), List.of())) {
      return moves.withoutStart(values);
    }
  }

  /**
   * Moves the rows to the tables of slices, if the buffer is active.
   *
   * @param hasPassed by the end of a slice: whether its rows are left out
   */
  void flush(LongPredicate hasPassed) {
    if (isActive()) {
      moves.toSlices(table(), hasPassed);
      end();
    }
  }

  private void end() {
    buffered.remove(StateTables.ONLY);
  }

  /**
   * Takes note that the slices before {@code start} have passed: the buffer is not active any more
   * if these are all slices, and gives up their rows if these are at least half of the rows.
   */
  void pass(long start) {
    firstStart = Math.max(firstStart, start);
    if (firstStart > lastStart) {
      end();
    } else {
      compact();
    }
  }

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
      try {
        StateTable compacted = context.retry().withRetry(() -> copyOf(open));
        end();
        buffered.put(StateTables.ONLY, compacted);
      } catch (GpuOutOfMemoryException e) {
        LOG.debug("the rows of slices that have passed are given up later", e);
      }
    }
    nextCompaction = Math.max(table().rowCount() + openRows[0], MIN_COMPACTED_ROWS);
  }

  private StateTable copyOf(KeyRange open) {
    StateTable copy = newTable();
    try {
      copy(open, 0, copy);
      return copy;
    } catch (RuntimeException | Error e) {
      copy.close();
      throw e;
    }
  }

  /**
   * Combines the rows of slices with those of another table of the schema: makes one attempt.
   *
   * @param range of the starts of the slices
   * @param added to the starts, for the keys in {@code target}
   */
  void copy(KeyRange range, long added, StateTable target) {
    StateTable table = table();
    RowRange.forAll(
        table.rowCount(),
        table.chunkRows(),
        rows -> range.copy(table, rows.first(), rows.count(), added, target));
  }
}
