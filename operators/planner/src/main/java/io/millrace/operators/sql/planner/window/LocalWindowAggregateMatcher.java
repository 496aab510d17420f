// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.window;

import io.millrace.operators.sql.planner.aggregate.KeyedAggregates;
import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import io.millrace.operators.state.StateTtl;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalLocalWindowAggregate;

/**
 * Decides about a LocalWindowAggregate: the first phase of aggregates by window. What it gives is
 * for Millrace's second phase alone: if that stays Flink's, so does this.
 */
@Internal
public final class LocalWindowAggregateMatcher
    extends NodeMatcher<StreamPhysicalLocalWindowAggregate, LocalWindowAggregateSpec> {
  public LocalWindowAggregateMatcher() {
    super(StreamPhysicalLocalWindowAggregate.class, LocalWindowAggregateRel.KIND);
  }

  @Override
  protected LocalWindowAggregateSpec match(
      StreamPhysicalLocalWindowAggregate local, PlanContext context) {
    PlannedInput.batchSchema(local.getInput());
    return new LocalWindowAggregateSpec(
        KeyedAggregates.of(local.grouping(), local.aggCalls(), StateTtl.NONE),
        WindowShape.of(local.windowing().getWindow(), local.grouping()),
        WindowAggregateMatcher.timeField(local.windowing()),
        FlinkTypeFactory.toLogicalRowType(local.getRowType()));
  }

  @Override
  protected RelNode decided(
      StreamPhysicalLocalWindowAggregate local, Decision<LocalWindowAggregateSpec> decision) {
    return new LocalWindowAggregateRel(local, local.getTraitSet(), local.getInput(), decision);
  }
}
