// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.window;

import io.millrace.operators.sql.planner.aggregate.KeyedAggregates;
import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import io.millrace.operators.state.StateTtl;
import java.util.OptionalInt;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.logical.TimeAttributeWindowingStrategy;
import org.apache.flink.table.planner.plan.logical.WindowingStrategy;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalWindowAggregate;

/** Decides about a WindowAggregate: aggregates by key and window in one phase. */
@Internal
public final class WindowAggregateMatcher
    extends NodeMatcher<StreamPhysicalWindowAggregate, WindowAggregateSpec> {
  public WindowAggregateMatcher() {
    super(StreamPhysicalWindowAggregate.class, WindowAggregateRel.KIND);
  }

  @Override
  protected WindowAggregateSpec match(
      StreamPhysicalWindowAggregate aggregate, PlanContext context) {
    return WindowAggregateSpec.checked(
        KeyedAggregates.of(aggregate.grouping(), aggregate.aggCalls(), StateTtl.NONE),
        WindowShape.of(aggregate.windowing().getWindow(), aggregate.grouping()),
        timeField(aggregate.windowing()),
        WindowColumn.of(aggregate.namedWindowProperties()),
        FlinkTypeFactory.toLogicalRowType(aggregate.getRowType()),
        PlannedInput.keyedSchema(aggregate.getInput(), KeyedAggregates.keys(aggregate.grouping())),
        context.expressionSettings());
  }

  /**
   * The position of the field with the times of rows; empty for windows of processing time.
   *
   * @throws UnsupportedNodeException if rows come with windows of a node before
   */
  static OptionalInt timeField(WindowingStrategy windowing) {
    if (windowing instanceof TimeAttributeWindowingStrategy times) {
      return times.isRowtime()
          ? OptionalInt.of(times.getTimeAttributeIndex())
          : OptionalInt.empty();
    }
    throw new UnsupportedNodeException("windows that rows have from a node before");
  }

  @Override
  protected RelNode decided(
      StreamPhysicalWindowAggregate aggregate, Decision<WindowAggregateSpec> decision) {
    return new WindowAggregateRel(
        aggregate, aggregate.getTraitSet(), aggregate.getInput(), decision);
  }
}
