// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.calc.Calc;
import io.millrace.column.Column;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.gather.Gather;
import io.millrace.kernel.slice.TimeSlices;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.ConstantColumns;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.state.StateTable;
import io.millrace.state.row.ConstantColumn;
import io.millrace.state.row.RowRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.runtime.util.TimeWindowUtil;

/** Emits the results of windows. Their event time is the last millisecond of the window. */
final class WindowResults implements AutoCloseable {
  /** The rows of a result at most, of one window. */
  static final int MAX_RESULT_ROWS = 1 << 16;

  // The last of the window's columns.
  private static final int WINDOW_TIME = 2;

  private final WindowAggregatePlan plan;
  private final Calc results;
  private final Calc resultsWithEventTimes;
  private final HostTransfer transfer;
  private final DeviceContext context;
  private final Output<StreamRecord<ColumnBatch>> output;

  /**
   * @param results of a state table's values with the columns of the window behind them; stays the
   *     caller's
   * @param transfer stays the caller's
   */
  WindowResults(
      WindowAggregatePlan plan,
      Calc results,
      HostTransfer transfer,
      DeviceContext context,
      Output<StreamRecord<ColumnBatch>> output) {
    this.plan = plan;
    this.results = results;
    this.resultsWithEventTimes = results.withLastColumn(EventTimeColumn.FIELD);
    this.transfer = transfer;
    this.context = context;
    this.output = output;
  }

  /** Emits the results of all rows of a window, in their order. */
  void emit(StateTable rows, long windowEnd) {
    List<ConstantColumn> windowColumns = plan.windowColumns(windowEnd);
    for (long row = 0; row < rows.rowCount(); row += MAX_RESULT_ROWS) {
      int count = (int) Math.min(rows.rowCount() - row, MAX_RESULT_ROWS);
      context
          .retry()
          .withSplitAndRetry(
              new RowRange(row, count),
              range -> results(rows, range, windowColumns),
              result -> emit(result, windowEnd));
      context.checkNotCanceled();
    }
  }

  /**
   * Emits the changes of a window.
   *
   * @param changes as {@link StateTable#update(Table)} gives them; closed by this
   */
  void emitChanges(long windowEnd, Table changes) {
    List<ConstantColumn> windowColumns = plan.windowColumns(windowEnd);
    try (changes) {
      context
          .retry()
          .withSplitAndRetry(
              changes, part -> results(part, windowColumns), result -> emit(result, windowEnd));
    }
  }

  /**
   * Emits the results of rows of several windows, in one batch if they fit the device: each row has
   * its event time.
   *
   * @param values as {@link WindowBuffer.WindowsConsumer} gives, likewise the others
   */
  void emit(RowRange rows, Function<RowRange, Table> values, long firstEnd, int windows) {
    long width = plan.window().sliceWidth();
    long lastEnd = firstEnd + (windows - 1) * width;
    try (Table columns = windowColumns(firstEnd, windows, width)) {
      context
          .retry()
          .withSplitAndRetry(
              rows,
              range -> {
                try (Table selected = values.apply(range)) {
                  return selected.rowCount() == 0
                      ? Optional.<Table>empty()
                      : Optional.of(results(selected, columns, firstEnd - width, width));
                }
              },
              result -> result.ifPresent(table -> emit(table, lastEnd)));
    }
    context.checkNotCanceled();
  }

  // The columns of each window, and its event time.
  private Table windowColumns(long firstEnd, int windows, long width) {
    List<Field> fields = new ArrayList<>();
    plan.windowColumns(firstEnd).forEach(column -> fields.add(column.field()));
    fields.add(EventTimeColumn.FIELD);
    return context
        .retry()
        .withRetry(
            () -> {
              try (RowTableBuilder builder = transfer.tableBuilder(new Schema(fields))) {
                for (int i = 0; i < windows; i++) {
                  List<ConstantColumn> window = plan.windowColumns(firstEnd + i * width);
                  for (int column = 0; column < fields.size(); column++) {
                    ((FixedWidthColumnBuilder) builder.column(column))
                        .appendLong(window.get(Math.min(column, WINDOW_TIME)).value());
                  }
                }
                return transfer.upload(builder.finish(windows));
              }
            });
  }

  private Table results(Table rows, Table windowColumns, long firstStart, long width) {
    int start = plan.aggregates().keyCount();
    int others = rows.columnCount() - 1;
    try (Column numbers =
            TimeSlices.numbers(
                rows.column(start), firstStart, width, context.stream(), context.resource());
        Table ofRows = Gather.gather(windowColumns, numbers, context.stream(), context.resource());
        Table withWindows =
            Table.of(
                resultsWithEventTimes.inputSchema(),
                rows.rowCount(),
                i ->
                    (i < others ? rows.column(i < start ? i : i + 1) : ofRows.column(i - others))
                        .share())) {
      return resultsWithEventTimes.apply(withWindows, context.stream(), context.resource());
    }
  }

  private Table results(Table changes, List<ConstantColumn> windowColumns) {
    try (Table withWindow =
        ConstantColumns.append(
            changes, windowColumns, transfer, context.stream(), context.resource())) {
      return results.apply(withWindow, context.stream(), context.resource());
    }
  }

  private Table results(StateTable rows, RowRange range, List<ConstantColumn> windowColumns) {
    try (Table values = rows.values(range.first(), range.count(), windowColumns)) {
      return results.apply(values, context.stream(), context.resource());
    }
  }

  private void emit(Table result, long windowEnd) {
    long timestamp = TimeWindowUtil.toEpochMills(windowEnd - 1, plan.zone());
    ColumnBatch.emit(new StreamRecord<>(new ColumnBatch(result), timestamp), output);
  }

  @Override
  public void close() {
    resultsWithEventTimes.close();
  }
}
