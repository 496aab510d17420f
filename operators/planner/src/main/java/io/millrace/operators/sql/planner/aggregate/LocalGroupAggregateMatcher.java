// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalLocalGroupAggregate;

/**
 * Decides about a LocalGroupAggregate: the first phase of aggregates. What it gives is for
 * Millrace's second phase alone: if that stays Flink's, so does this.
 */
@Internal
public final class LocalGroupAggregateMatcher
    extends NodeMatcher<StreamPhysicalLocalGroupAggregate, LocalGroupAggregateSpec> {
  public LocalGroupAggregateMatcher() {
    super(StreamPhysicalLocalGroupAggregate.class, LocalGroupAggregateRel.KIND);
  }

  @Override
  protected LocalGroupAggregateSpec match(
      StreamPhysicalLocalGroupAggregate local, PlanContext context) {
    return LocalGroupAggregateSpec.checked(
        KeyedAggregates.of(local.grouping(), local.aggCalls(), context.stateTtl())
            .over(local.getInput()),
        PlannedInput.batchSchema(local.getInput()),
        FlinkTypeFactory.toLogicalRowType(local.getRowType()),
        context.expressionSettings());
  }

  @Override
  protected RelNode decided(
      StreamPhysicalLocalGroupAggregate local, Decision<LocalGroupAggregateSpec> decision) {
    return LocalGroupAggregateRel.of(local, decision);
  }
}
