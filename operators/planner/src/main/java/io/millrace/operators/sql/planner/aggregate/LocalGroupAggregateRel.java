// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlannerField;
import java.util.List;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalLocalGroupAggregate;

/** A LocalGroupAggregate about which is decided. */
final class LocalGroupAggregateRel extends StreamPhysicalLocalGroupAggregate
    implements FirstPhaseRel {
  static final String KIND = "LocalGroupAggregate";

  private final boolean[] aggCallNeedRetractions;
  private final boolean needRetraction;
  private final Decision<LocalGroupAggregateSpec> decision;

  private LocalGroupAggregateRel(
      StreamPhysicalLocalGroupAggregate local,
      RelTraitSet traits,
      RelNode input,
      boolean[] aggCallNeedRetractions,
      boolean needRetraction,
      Decision<LocalGroupAggregateSpec> decision) {
    super(
        local.getCluster(),
        traits,
        input,
        local.grouping(),
        local.aggCalls(),
        aggCallNeedRetractions,
        needRetraction,
        local.partialFinalType());
    this.aggCallNeedRetractions = aggCallNeedRetractions;
    this.needRetraction = needRetraction;
    this.decision = decision;
  }

  static LocalGroupAggregateRel of(
      StreamPhysicalLocalGroupAggregate local, Decision<LocalGroupAggregateSpec> decision) {
    PlannerField fields = new PlannerField(StreamPhysicalLocalGroupAggregate.class, local);
    return new LocalGroupAggregateRel(
        local,
        local.getTraitSet(),
        local.getInput(),
        fields.get("aggCallNeedRetractions", boolean[].class),
        fields.get("needRetraction", Boolean.class),
        decision);
  }

  private LocalGroupAggregateRel with(
      RelTraitSet traits, RelNode input, Decision<LocalGroupAggregateSpec> newDecision) {
    return new LocalGroupAggregateRel(
        this, traits, input, aggCallNeedRetractions, needRetraction, newDecision);
  }

  @Override
  public Decision<LocalGroupAggregateSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return with(getTraitSet(), getInput(), Decision.kept(reason));
  }

  @Override
  public LocalGroupAggregateSpec firstPhase() {
    return decision.spec();
  }

  @Override
  public boolean givesPartials() {
    return decision.isSupported();
  }

  @Override
  public String getRelTypeName() {
    return decision.typeName(KIND);
  }

  @Override
  public RelWriter explainTerms(RelWriter terms) {
    RelWriter writer = decision.explain(super.explainTerms(terms), this);
    return writer.itemIf("sends", "rows", decision.isSupported() && !decision.spec().combines());
  }

  @Override
  public RelNode copy(RelTraitSet traits, List<RelNode> inputs) {
    return with(traits, inputs.get(0), decision);
  }

  @Override
  public ExecNode<?> translateToExecNode(boolean isCompiled) {
    return isCompiled || !decision.isReplaced()
        ? super.translateToExecNode(isCompiled)
        : node(decision.spec());
  }

  private ExecNode<?> node(LocalGroupAggregateSpec spec) {
    NodeInput from = NodeInput.of(getInput());
    String description = getRelDetailedDescription();
    return spec.combines()
        ? new LocalGroupAggregateExecNode(spec, from, description)
        : new KeysFirstExecNode(KIND, spec.aggregates(), spec.output(), from, description);
  }
}
