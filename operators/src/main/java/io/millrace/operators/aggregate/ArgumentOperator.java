// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.column.Table;
import io.millrace.operators.aggregate.GroupAggregatePlan.Steps;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.process.ProcessOperator;
import io.millrace.operators.state.KeyedStateOperator;
import io.millrace.operators.state.StateTtl;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Keeps the values of an argument for each key, in front of the {@link GroupAggregateOperator}.
 * Adds rows to each batch for what changed, so that the aggregates see the batch and these changes
 * in one update. The first of several such operators computes the arguments of all aggregates.
 *
 * <p>The state changes once per batch, in an attempt of its own; the rows are joined behind it. A
 * batch that does not fit the device is sent in parts.
 */
@Internal
public abstract class ArgumentOperator extends KeyedStateOperator {
  private static final long serialVersionUID = 1L;

  private final GroupAggregatePlan plan;
  private final int position;
  private transient Steps steps;

  ArgumentOperator(
      StreamOperatorParameters<ColumnBatch> parameters, GroupAggregatePlan plan, int position) {
    super(parameters);
    this.plan = plan;
    this.position = position;
  }

  /**
   * A factory of operators behind an exchange by the keys of {@code plan}.
   *
   * @param position of the argument among {@link GroupAggregatePlan#keptArguments}
   */
  public static OperatorFactory<ColumnBatch, ColumnBatch> factory(
      GroupAggregatePlan plan, int position) {
    return switch (plan.keptArguments().get(position).kind()) {
      case FUNCTION -> ProcessOperator.factory(UserDefinedAggregate.plan(plan, position));
      case DISTINCT ->
          new OperatorFactory<>(
              DistinctOperator.class,
              parameters -> new DistinctOperator(parameters, plan, position));
      case EXTREMES ->
          new OperatorFactory<>(
              ExtremesOperator.class,
              parameters -> new ExtremesOperator(parameters, plan, position));
    };
  }

  /** The state of such an operator. */
  public static StateSchema state(GroupAggregatePlan plan, int position) {
    try (Steps steps = plan.steps()) {
      return steps.ofArguments().get(position) instanceof ValuesStep values
          ? values.state()
          : UserDefinedAggregate.plan(plan, position).stateSchema();
    }
  }

  /** What is kept of the argument. */
  final ValuesStep step() {
    return (ValuesStep) steps.ofArguments().get(position);
  }

  /**
   * Makes the rows that are added to a batch.
   *
   * @param changes of the state, as {@link io.millrace.state.StateTable#update(Table)} gives them;
   *     goes to the callee
   * @param tables takes the rows
   */
  abstract void addRows(Table changes, List<Table> tables);

  /** Called in front of each update of the state. */
  void beforeUpdate() {}

  @Override
  protected final StateSchema stateSchema() {
    return step().state();
  }

  @Override
  protected final StateTtl stateTtl() {
    return plan.stateTtl();
  }

  // Without the argument.
  @Override
  protected final int exchangeKeys() {
    return plan.keyCount();
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    steps = plan.steps();
    super.initializeState(context);
  }

  @Override
  protected final void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    DeviceContext context = deviceContext();
    beginBatch(batch);
    if (position > 0) {
      add(batch.table().share(), element);
    } else {
      context
          .retry()
          .withSplitAndRetry(
              batch.table(),
              part -> steps.arguments().apply(part, context.stream(), context.resource()),
              rows -> add(rows, element));
    }
  }

  private void add(Table rows, StreamRecord<ColumnBatch> element) {
    List<Table> tables = new ArrayList<>();
    tables.add(rows);
    try (JoinedRows joined = new JoinedRows(tables)) {
      beforeUpdate();
      update(rows, changes -> addRows(changes, tables));
      emit(joined, element);
    }
  }

  private void emit(JoinedRows rows, StreamRecord<ColumnBatch> element) {
    DeviceContext context = deviceContext();
    context
        .retry()
        .withSplitAndRetry(
            rows,
            part -> part.table(plan.argumentSchema(), context.stream(), context.resource()),
            table -> ColumnBatch.emit(element.copy(nextBatch(table)), output));
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(steps, super::close);
  }
}
