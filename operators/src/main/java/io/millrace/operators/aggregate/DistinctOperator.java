// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.calc.Calc;
import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.state.ChangePairs;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.transfer.NumberColumn;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.annotation.Internal;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.util.IOUtils;

/**
 * Keeps the different values of an argument of DISTINCT for each key. Adds rows to each batch for
 * the values that came and went.
 */
@Internal
public final class DistinctOperator extends ArgumentOperator {
  private static final long serialVersionUID = 1L;

  private transient HostTransfer transfer;
  private transient NumberColumn before;
  private transient NumberColumn after;

  DistinctOperator(
      StreamOperatorParameters<ColumnBatch> parameters, GroupAggregatePlan plan, int position) {
    super(parameters, plan, position);
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    transfer = new HostTransfer(deviceContext());
    before = new NumberColumn(transfer, 0, 2);
    after = new NumberColumn(transfer, 1, 2);
  }

  @Override
  void addRows(Table changes, List<Table> tables) {
    DistinctStep step = (DistinctStep) step();
    GpuRetry retry = deviceContext().retry();
    try (changes) {
      for (Calc rows : step.addedRows()) {
        if (step.counts().isEmpty()) {
          retry.withSplitAndRetry(changes, part -> rows(rows, part), tables::add);
        } else {
          retry.withSplitAndRetry(
              new ChangePairs(changes), part -> rowsOfPairs(step, rows, part), tables::add);
        }
      }
    }
  }

  private Table rows(Calc calc, Table changes) {
    return calc.apply(changes, deviceContext().stream(), deviceContext().resource());
  }

  private Table rowsOfPairs(DistinctStep step, Calc calc, ChangePairs pairs) {
    Table changes = pairs.changes();
    int count = changes.rowCount() / 2;
    try (Column firstRows = before.column(count);
        Column secondRows = after.column(count);
        Table counts = changes.select(step.counts());
        Table countsBefore = gather(counts, firstRows);
        Table rowsAfter = gather(changes, secondRows);
        Table joined = joined(step, rowsAfter, countsBefore)) {
      return rows(calc, joined);
    }
  }

  private Table gather(Table rows, Column map) {
    return Gather.gather(rows, map, deviceContext().stream(), deviceContext().resource());
  }

  private static Table joined(DistinctStep step, Table rowsAfter, Table countsBefore) {
    List<Column> columns =
        Stream.concat(rowsAfter.columns().stream(), countsBefore.columns().stream())
            .map(Column::share)
            .toList();
    return new Table(
        DistinctStep.pairs(step.state(), step.counts()), columns, rowsAfter.rowCount());
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(before, after, transfer, super::close);
  }
}
