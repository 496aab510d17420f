// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlannerField;
import java.util.List;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.core.AggregateCall;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalIncrementalGroupAggregate;

/** An IncrementalGroupAggregate about which is decided. */
final class IncrementalGroupAggregateRel extends StreamPhysicalIncrementalGroupAggregate
    implements FirstPhaseRel {
  static final String KIND = "IncrementalGroupAggregate";

  private final Decision<IncrementalGroupAggregateSpec> decision;

  IncrementalGroupAggregateRel(
      StreamPhysicalIncrementalGroupAggregate aggregate,
      RelTraitSet traits,
      RelNode input,
      Decision<IncrementalGroupAggregateSpec> decision) {
    this(
        aggregate,
        traits,
        input,
        new PlannerField(StreamPhysicalIncrementalGroupAggregate.class, aggregate),
        decision);
  }

  private IncrementalGroupAggregateRel(
      StreamPhysicalIncrementalGroupAggregate aggregate,
      RelTraitSet traits,
      RelNode input,
      PlannerField fields,
      Decision<IncrementalGroupAggregateSpec> decision) {
    super(
        aggregate.getCluster(),
        traits,
        input,
        aggregate.partialAggGrouping(),
        aggregate.partialAggCalls(),
        aggregate.grouping(),
        fields.get("finalAggCalls", AggregateCall[].class),
        fields.get("partialOriginalAggCalls", AggregateCall[].class),
        fields.get("partialAggCallNeedRetractions", boolean[].class),
        fields.get("partialAggNeedRetraction", Boolean.class),
        fields.get("partialLocalAggInputRowType", RelDataType.class),
        fields.get("partialGlobalAggRowType", RelDataType.class),
        aggregate.hints());
    this.decision = decision;
  }

  @Override
  public Decision<IncrementalGroupAggregateSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return new IncrementalGroupAggregateRel(this, getTraitSet(), getInput(), Decision.kept(reason));
  }

  @Override
  public LocalGroupAggregateSpec firstPhase() {
    return decision.spec().last();
  }

  @Override
  public boolean givesPartials() {
    return decision.isSupported();
  }

  @Override
  public boolean takesPartials() {
    return decision.isSupported();
  }

  @Override
  public String getRelTypeName() {
    return decision.typeName(KIND);
  }

  @Override
  public RelWriter explainTerms(RelWriter terms) {
    RelWriter writer = decision.explain(super.explainTerms(terms), this);
    return writer.itemIf("sends", "rows", decision.isSupported() && !firstPhase().combines());
  }

  @Override
  public RelNode copy(RelTraitSet traits, List<RelNode> inputs) {
    return new IncrementalGroupAggregateRel(this, traits, inputs.get(0), decision);
  }

  @Override
  public ExecNode<?> translateToExecNode(boolean isCompiled) {
    return isCompiled || !decision.isReplaced()
        ? super.translateToExecNode(isCompiled)
        : new IncrementalGroupAggregateExecNode(
            decision.spec(), NodeInput.of(getInput()), getRelDetailedDescription());
  }
}
