// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.column.Table;
import io.millrace.operators.aggregate.GroupAggregatePlan.Steps;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.state.KeyedStateOperator;
import io.millrace.operators.state.StateTtl;
import io.millrace.state.row.StateSchema;
import org.apache.flink.annotation.Internal;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Aggregates the rows of each key, and emits for each batch what changed: for each key an
 * insertion, an update with the row before directly before the row after, or a deletion, in the
 * order in which the keys come in the batch. These are the changes of Flink SQL's group aggregate
 * with mini-batches, except that an update is also emitted if only a count or sum behind a result
 * changed: its two rows are then equal.
 *
 * <p>A batch that does not fit the device is aggregated in parts, each of which emits its changes.
 */
@Internal
public final class GroupAggregateOperator extends KeyedStateOperator {
  private static final long serialVersionUID = 1L;

  private final GroupAggregatePlan plan;
  // Whether batches have accumulators of keys instead of rows.
  private final boolean isSecondPhase;
  private transient Steps steps;

  private GroupAggregateOperator(
      StreamOperatorParameters<ColumnBatch> parameters,
      GroupAggregatePlan plan,
      boolean isSecondPhase) {
    super(parameters);
    this.plan = plan;
    this.isSecondPhase = isSecondPhase;
  }

  /**
   * A factory of operators behind an exchange by the keys of {@code plan}, and behind an {@link
   * ArgumentOperator} for each of its {@link GroupAggregatePlan#keptArguments}.
   */
  public static OperatorFactory<ColumnBatch, ColumnBatch> factory(GroupAggregatePlan plan) {
    return new OperatorFactory<>(
        GroupAggregateOperator.class,
        parameters -> new GroupAggregateOperator(parameters, plan, false));
  }

  /**
   * A factory of operators behind an exchange by the keys of {@code plan}, and behind {@link
   * LocalGroupAggregateOperator}s in front of it.
   */
  public static OperatorFactory<ColumnBatch, ColumnBatch> factory(TwoPhasePlan plan) {
    return new OperatorFactory<>(
        GroupAggregateOperator.class,
        parameters -> new GroupAggregateOperator(parameters, plan.aggregates(), true));
  }

  @Override
  protected StateSchema stateSchema() {
    return isSecondPhase ? steps.state().ofSecondPhase() : steps.state();
  }

  @Override
  protected StateTtl stateTtl() {
    return plan.stateTtl();
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    steps = plan.steps();
    super.initializeState(context);
    deviceContext().logFallback(this, plan.hostReasons());
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    beginBatch(batch);
    if (isSecondPhase || !plan.keptArguments().isEmpty()) {
      update(batch.table().share(), element);
      return;
    }
    DeviceContext context = deviceContext();
    context
        .retry()
        .withSplitAndRetry(
            batch.table(),
            part -> steps.arguments().apply(part, context.stream(), context.resource()),
            arguments -> update(arguments, element));
  }

  private void update(Table arguments, StreamRecord<ColumnBatch> element) {
    try (arguments) {
      update(arguments, changes -> emit(changes, element));
    }
  }

  private void emit(Table changes, StreamRecord<ColumnBatch> element) {
    DeviceContext context = deviceContext();
    try (changes) {
      context
          .retry()
          .withSplitAndRetry(
              changes,
              part -> steps.results().apply(part, context.stream(), context.resource()),
              result -> ColumnBatch.emit(element.copy(new ColumnBatch(result)), output));
    }
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(steps, super::close);
  }
}
