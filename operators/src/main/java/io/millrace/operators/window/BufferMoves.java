// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Table;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.StateTables;
import io.millrace.operators.transfer.ConstantColumns;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.state.StateTable;
import io.millrace.state.row.ConstantColumn;
import io.millrace.state.row.RowRange;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * Moves rows between the table of a {@link SliceBuffer} and the tables of slices. The words of
 * their accumulators become columns, as between two phases of an aggregate.
 */
final class BufferMoves {
  private static final int MAX_MOVED_ROWS = 1 << 16;

  private final long width;
  private final int keys;
  private final StateTables tables;
  private final SliceSplitter splitter;
  private final HostTransfer transfer;
  private final DeviceContext context;

  /**
   * @param tables of the slices; stays the caller's, likewise {@code transfer}
   */
  BufferMoves(
      TimeWindow window,
      StateTables tables,
      SliceSplitter splitter,
      HostTransfer transfer,
      DeviceContext context) {
    this.width = window.sliceWidth();
    this.keys = tables.schema().keys().size();
    this.tables = tables;
    this.splitter = splitter;
    this.transfer = transfer;
    this.context = context;
  }

  /** Moves the rows of all slices to the table of a buffer. */
  void fromSlices(StateTable buffer) {
    for (long sliceEnd : tables.all().keySet()) {
      StateTable slice = tables.all().get(sliceEnd);
      RowRange.forAll(
          slice.rowCount(),
          MAX_MOVED_ROWS,
          rows ->
              context
                  .retry()
                  .withSplitAndRetry(
                      rows, part -> add(buffer, slice, part, sliceEnd - width), added -> {}));
      tables.remove(sliceEnd);
    }
  }

  private StateTable add(StateTable buffer, StateTable slice, RowRange rows, long start) {
    try (Table partials = slice.partials(rows.first(), rows.count());
        Table withStart = withStart(partials, start);
        Table keysFirst = startBehindKeys(withStart)) {
      buffer.accumulatePartials(keysFirst);
      return buffer;
    }
  }

  /** Rows of a slice with its start behind them: makes one attempt. Waits. */
  Table withStart(Table rows, long start) {
    return ConstantColumns.append(
        rows,
        List.of(new ConstantColumn(SliceBuffer.SLICE_START, start)),
        transfer,
        context.stream(),
        context.resource());
  }

  private Table startBehindKeys(Table rows) {
    List<String> names = new ArrayList<>(rows.schema().names());
    names.add(keys, names.remove(names.size() - 1));
    return rows.select(names);
  }

  /** Rows without the start of their slices. */
  Table withoutStart(Table rows) {
    List<String> names = new ArrayList<>(rows.schema().names());
    names.remove(keys);
    return rows.select(names);
  }

  /**
   * Copies the rows of the table of a buffer to slices.
   *
   * @param hasPassed by the end of a slice: whether its rows are left out
   */
  void toSlices(StateTable buffer, LongPredicate hasPassed) {
    RowRange.forAll(
        buffer.rowCount(),
        MAX_MOVED_ROWS,
        rows ->
            context
                .retry()
                .withSplitAndRetry(
                    rows,
                    part -> buffer.partials(part.first(), part.count()),
                    partials -> toSlices(partials, hasPassed)));
  }

  private void toSlices(Table partials, LongPredicate hasPassed) {
    try (partials;
        SliceRows rows =
            new SliceRows(
                partials.share(), withoutStart(partials), partials.column(keys).share())) {
      splitter.forRanges(
          rows,
          timed ->
              splitter.forSlices(
                  timed,
                  (sliceEnd, ofSlice) -> {
                    if (!hasPassed.test(sliceEnd)) {
                      toSlice(sliceEnd, ofSlice);
                    }
                  }));
    }
  }

  private void toSlice(long sliceEnd, Table partials) {
    context
        .retry()
        .withSplitAndRetry(
            partials,
            part -> {
              StateTable slice = tables.forUpdate(sliceEnd);
              slice.accumulatePartials(part);
              return slice;
            },
            slice -> {});
  }
}
