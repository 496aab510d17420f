// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.hint.RelHint;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalGroupAggregate;
import org.apache.flink.table.planner.plan.utils.ChangelogPlanUtils;

/** Decides about a GroupAggregate: aggregates by key in one phase. */
@Internal
public final class GroupAggregateMatcher
    extends NodeMatcher<StreamPhysicalGroupAggregate, GroupAggregateSpec> {
  public GroupAggregateMatcher() {
    super(StreamPhysicalGroupAggregate.class, GroupAggregateRel.KIND);
  }

  @Override
  protected GroupAggregateSpec match(StreamPhysicalGroupAggregate aggregate, PlanContext context) {
    checkHints(aggregate.hints());
    return GroupAggregateSpec.checked(
        KeyedAggregates.of(aggregate.grouping(), aggregate.aggCalls(), context.stateTtl())
            .over(aggregate.getInput()),
        false,
        ChangelogPlanUtils.generateUpdateBefore(aggregate),
        FlinkTypeFactory.toLogicalRowType(aggregate.getRowType()),
        PlannedInput.keyedSchema(aggregate.getInput(), KeyedAggregates.keys(aggregate.grouping())),
        context.expressionSettings());
  }

  /**
   * Checks that a node has no hints: the only one that aggregates know gives a node a time-to-live
   * of its own.
   *
   * @throws UnsupportedNodeException if it has a hint
   */
  static void checkHints(List<RelHint> hints) {
    if (!hints.isEmpty()) {
      throw new UnsupportedNodeException("hint " + hints.get(0).hintName);
    }
  }

  @Override
  protected RelNode decided(
      StreamPhysicalGroupAggregate aggregate, Decision<GroupAggregateSpec> decision) {
    return new GroupAggregateRel(
        aggregate, aggregate.getTraitSet(), aggregate.getInput(), decision);
  }
}
