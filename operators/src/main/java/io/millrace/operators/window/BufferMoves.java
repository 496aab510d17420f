// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Table;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.StateTables;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.state.StateTable;
import io.millrace.state.row.ConstantColumn;
import io.millrace.state.row.RowRange;
import java.util.ArrayList;
import java.util.List;

/**
 * Moves rows between the table of a {@link WindowBuffer} and the tables of slices. The words of
 * their accumulators become columns, as between two phases of an aggregate.
 */
final class BufferMoves {
  private static final int MAX_MOVED_ROWS = 1 << 16;

  private final long width;
  private final int keys;
  private final StateTables tables;
  private final SliceTables slices;
  private final SliceSplitter splitter;
  private final HostTransfer transfer;
  private final DeviceContext context;

  /**
   * @param tables of the slices; stays the caller's, likewise {@code transfer}
   */
  BufferMoves(
      TimeWindow window,
      StateTables tables,
      SliceTables slices,
      SliceSplitter splitter,
      HostTransfer transfer,
      DeviceContext context) {
    this.width = window.sliceWidth();
    this.keys = tables.schema().keys().size();
    this.tables = tables;
    this.slices = slices;
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
        List.of(new ConstantColumn(WindowBuffer.SLICE_START, start)),
        transfer,
        context.stream(),
        context.resource());
  }

  private Table startBehindKeys(Table rows) {
    List<String> names = new ArrayList<>(rows.schema().names());
    names.add(keys, names.remove(names.size() - 1));
    return rows.select(names);
  }

  /** Copies the rows of the table of a buffer to the slices that are not late. */
  void toSlices(StateTable buffer) {
    RowRange.forAll(
        buffer.rowCount(),
        MAX_MOVED_ROWS,
        rows ->
            context
                .retry()
                .withSplitAndRetry(
                    rows, part -> buffer.partials(part.first(), part.count()), this::toSlices));
  }

  private void toSlices(Table partials) {
    List<String> names = new ArrayList<>(partials.schema().names());
    names.remove(keys);
    try (partials;
        SliceRows rows =
            new SliceRows(
                partials.share(), partials.select(names), partials.column(keys).share())) {
      splitter.forRanges(
          rows,
          timed ->
              splitter.forSlices(
                  timed,
                  sliceEnd -> false,
                  (sliceEnd, ofSlice, input) -> toSlice(sliceEnd, ofSlice)));
    }
  }

  private void toSlice(long sliceEnd, Table partials) {
    if (slices.isLate(sliceEnd)) {
      return;
    }
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
