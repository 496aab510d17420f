// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.window;

import io.millrace.column.Schema;
import io.millrace.operators.sql.planner.aggregate.KeyedAggregates;
import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import java.util.OptionalInt;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalGlobalWindowAggregate;

/** Decides about a GlobalWindowAggregate: the second phase of aggregates by window. */
@Internal
public final class GlobalWindowAggregateMatcher
    extends NodeMatcher<StreamPhysicalGlobalWindowAggregate, WindowAggregateSpec> {
  public GlobalWindowAggregateMatcher() {
    super(StreamPhysicalGlobalWindowAggregate.class, GlobalWindowAggregateRel.KIND);
  }

  @Override
  protected WindowAggregateSpec match(
      StreamPhysicalGlobalWindowAggregate global, PlanContext context) {
    LocalWindowAggregateRel local = MillraceRel.firstPhase(global, LocalWindowAggregateRel.class);
    LocalWindowAggregateSpec first = local.decision().spec();
    Schema input = PlannedInput.batchSchema(local.getInput());
    KeyedAggregates aggregates = first.aggregates();
    OptionalInt timeField =
        first.timeField().stream()
            .map(field -> aggregates.positionKeysFirst(field, input))
            .findFirst();
    return WindowAggregateSpec.checked(
        aggregates.overKeysFirst(input),
        first.shape(),
        timeField,
        WindowColumn.of(global.namedWindowProperties()),
        FlinkTypeFactory.toLogicalRowType(global.getRowType()),
        aggregates.schemaKeysFirst(input),
        context.expressionSettings());
  }

  @Override
  protected RelNode decided(
      StreamPhysicalGlobalWindowAggregate global, Decision<WindowAggregateSpec> decision) {
    return new GlobalWindowAggregateRel(global, global.getTraitSet(), global.getInput(), decision);
  }
}
