// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.column.Schema;
import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.PlannedInput;
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
    LocalGroupAggregateRel local = firstPhase(global);
    LocalGroupAggregateSpec first = local.decision().spec();
    Schema input = PlannedInput.batchSchema(local.getInput());
    return GroupAggregateSpec.checked(
        first.combines() ? first.aggregates() : first.aggregates().overKeysFirst(input),
        first.combines(),
        ChangelogPlanUtils.generateUpdateBefore(global),
        FlinkTypeFactory.toLogicalRowType(global.getRowType()),
        first.combines() ? input : first.aggregates().schemaKeysFirst(input),
        context.expressionSettings());
  }

  private static LocalGroupAggregateRel firstPhase(RelNode global) {
    RelNode exchange = global.getInput(0);
    if (MillraceRel.givesBatches(exchange)
        && exchange.getInput(0) instanceof LocalGroupAggregateRel local) {
      return local;
    }
    throw new UnsupportedNodeException("its first phase stays Flink's");
  }

  @Override
  protected RelNode decided(
      StreamPhysicalGlobalGroupAggregate global, Decision<GroupAggregateSpec> decision) {
    return GlobalGroupAggregateRel.of(global, decision);
  }
}
