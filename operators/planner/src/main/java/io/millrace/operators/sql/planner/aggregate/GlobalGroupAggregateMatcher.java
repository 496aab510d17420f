// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalGlobalGroupAggregate;
import org.apache.flink.table.planner.plan.utils.ChangelogPlanUtils;

/** Decides about a GlobalGroupAggregate: the second phase of aggregates. */
@Internal
public final class GlobalGroupAggregateMatcher
    extends NodeMatcher<StreamPhysicalGlobalGroupAggregate, GroupAggregateSpec> {
  public GlobalGroupAggregateMatcher() {
    super(StreamPhysicalGlobalGroupAggregate.class, GlobalGroupAggregateRel.KIND);
  }

  @Override
  protected GroupAggregateSpec match(
      StreamPhysicalGlobalGroupAggregate global, PlanContext context) {
    GroupAggregateMatcher.checkHints(global.hints());
    return GroupAggregateSpec.ofSecondPhase(
        MillraceRel.firstPhase(global, FirstPhaseRel.class).firstPhase(),
        ChangelogPlanUtils.generateUpdateBefore(global),
        FlinkTypeFactory.toLogicalRowType(global.getRowType()),
        context.expressionSettings());
  }

  @Override
  protected RelNode decided(
      StreamPhysicalGlobalGroupAggregate global, Decision<GroupAggregateSpec> decision) {
    return GlobalGroupAggregateRel.of(global, decision);
  }
}
