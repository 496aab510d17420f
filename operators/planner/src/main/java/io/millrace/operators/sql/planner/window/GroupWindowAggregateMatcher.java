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
import org.apache.flink.table.expressions.FieldReferenceExpression;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalGroupWindowAggregate;
import org.apache.flink.table.planner.plan.utils.WindowEmitStrategy;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/**
 * Decides about a GroupWindowAggregate: aggregates of {@code GROUP BY TUMBLE(...)}, {@code
 * HOP(...)} or {@code SESSION(...)}.
 */
@Internal
public final class GroupWindowAggregateMatcher
    extends NodeMatcher<StreamPhysicalGroupWindowAggregate, WindowAggregateSpec> {
  public GroupWindowAggregateMatcher() {
    super(StreamPhysicalGroupWindowAggregate.class, GroupWindowAggregateRel.KIND);
  }

  @Override
  protected WindowAggregateSpec match(
      StreamPhysicalGroupWindowAggregate aggregate, PlanContext context) {
    checkEmits(aggregate.emitStrategy());
    return WindowAggregateSpec.checked(
        KeyedAggregates.of(aggregate.grouping(), aggregate.aggCalls(), StateTtl.NONE),
        WindowShape.of(aggregate.window()),
        timeField(aggregate.window().timeAttribute()),
        WindowColumn.of(aggregate.namedWindowProperties()),
        FlinkTypeFactory.toLogicalRowType(aggregate.getRowType()),
        PlannedInput.keyedSchema(aggregate.getInput(), KeyedAggregates.keys(aggregate.grouping())),
        context.expressionSettings());
  }

  private static void checkEmits(WindowEmitStrategy strategy) {
    if (strategy.produceUpdates() || strategy.getAllowLateness() > 0) {
      throw new UnsupportedNodeException("results before or behind the end of windows");
    }
  }

  private static OptionalInt timeField(FieldReferenceExpression time) {
    return LogicalTypeChecks.isProctimeAttribute(time.getOutputDataType().getLogicalType())
        ? OptionalInt.empty()
        : OptionalInt.of(time.getFieldIndex());
  }

  @Override
  protected RelNode decided(
      StreamPhysicalGroupWindowAggregate aggregate, Decision<WindowAggregateSpec> decision) {
    return new GroupWindowAggregateRel(
        aggregate, aggregate.getTraitSet(), aggregate.getInput(), decision);
  }
}
