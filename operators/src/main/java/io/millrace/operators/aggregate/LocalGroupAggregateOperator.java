// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.column.Table;
import io.millrace.operators.aggregate.GroupAggregatePlan.Steps;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.state.StateTable;
import io.millrace.state.row.StateSchema;
import org.apache.flink.annotation.Internal;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * The first of two phases of aggregates, in front of the exchange by key: emits for each batch a
 * row for each of its keys, in the order in which they come first, with the accumulators of the
 * key's rows. Keeps nothing behind a batch. Rows that are taken back are taken out of the
 * accumulators; a key all of whose rows are taken back in its batch has a row too, since values and
 * the time of its update may have changed.
 *
 * <p>A batch that does not fit the device is emitted in parts, which may have the same keys.
 */
@Internal
public final class LocalGroupAggregateOperator extends ColumnBatchOperator<ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final TwoPhasePlan plan;
  private transient Steps steps;
  private transient StateSchema groups;

  private LocalGroupAggregateOperator(
      StreamOperatorParameters<ColumnBatch> parameters, TwoPhasePlan plan) {
    super(parameters);
    this.plan = plan;
  }

  /** A factory of operators in front of the exchange by the keys of {@code plan}. */
  public static OperatorFactory<ColumnBatch, ColumnBatch> factory(TwoPhasePlan plan) {
    return new OperatorFactory<>(
        LocalGroupAggregateOperator.class,
        parameters -> new LocalGroupAggregateOperator(parameters, plan));
  }

  @Override
  public void open() throws Exception {
    super.open();
    steps = plan.steps();
    groups = steps.state().ofFirstPhase();
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    deviceContext()
        .retry()
        .withSplitAndRetry(
            batch.table(),
            this::partials,
            partials -> ColumnBatch.emit(element.copy(new ColumnBatch(partials)), output));
  }

  private Table partials(Table rows) {
    DeviceContext context = deviceContext();
    try (Table arguments = steps.arguments().apply(rows, context.stream(), context.resource());
        StateTable table = new StateTable(groups, context.stream(), context.resource())) {
      table.accumulate(arguments);
      return table.partials(0, (int) table.rowCount());
    }
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(steps, super::close);
  }
}
