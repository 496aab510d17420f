// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.node.PlannerField;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalIncrementalGroupAggregate;
import org.apache.flink.table.types.logical.RowType;

/**
 * Decides about an IncrementalGroupAggregate, which Flink makes of two nodes when it splits
 * distinct aggregates: the second phase of aggregates by key and a part of the distinct argument,
 * and the first phase of those by key. Flink's node lets both share their accumulators; here the
 * first gives its changes to the second.
 */
@Internal
public final class IncrementalGroupAggregateMatcher
    extends NodeMatcher<StreamPhysicalIncrementalGroupAggregate, IncrementalGroupAggregateSpec> {
  public IncrementalGroupAggregateMatcher() {
    super(StreamPhysicalIncrementalGroupAggregate.class, IncrementalGroupAggregateRel.KIND);
  }

  @Override
  protected IncrementalGroupAggregateSpec match(
      StreamPhysicalIncrementalGroupAggregate aggregate, PlanContext context) {
    GroupAggregateMatcher.checkHints(aggregate.hints());
    ExpressionSettings settings = context.expressionSettings();
    PlannerField fields =
        new PlannerField(StreamPhysicalIncrementalGroupAggregate.class, aggregate);
    RowType partials =
        FlinkTypeFactory.toLogicalRowType(fields.get("partialGlobalAggRowType", RelDataType.class));
    KeyedAggregates last =
        KeyedAggregates.of(
            aggregate.grouping(),
            List.of(fields.get("finalAggCalls", AggregateCall[].class)),
            context.stateTtl());
    return new IncrementalGroupAggregateSpec(
        GroupAggregateSpec.ofSecondPhase(
            MillraceRel.firstPhase(aggregate, FirstPhaseRel.class).firstPhase(),
            true,
            partials,
            settings),
        LocalGroupAggregateSpec.checked(
            last,
            RowKindColumn.addTo(PlannedInput.schema(partials)),
            FlinkTypeFactory.toLogicalRowType(aggregate.getRowType()),
            settings));
  }

  @Override
  protected RelNode decided(
      StreamPhysicalIncrementalGroupAggregate aggregate,
      Decision<IncrementalGroupAggregateSpec> decision) {
    return new IncrementalGroupAggregateRel(
        aggregate, aggregate.getTraitSet(), aggregate.getInput(), decision);
  }
}
