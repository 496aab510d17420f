// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.calc.Calc;
import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.state.StateTable;
import io.millrace.state.row.ConstantColumn;
import java.util.List;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.runtime.util.TimeWindowUtil;

/** Emits the results of windows. Their event time is the last millisecond of the window. */
final class WindowResults {
  private static final int MAX_RESULT_ROWS = 1 << 16;

  private final WindowAggregatePlan plan;
  private final Calc results;
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
}
