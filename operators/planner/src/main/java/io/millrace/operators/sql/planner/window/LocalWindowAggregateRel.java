// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.window;

import io.millrace.operators.sql.planner.aggregate.KeysFirstExecNode;
import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeInput;
import java.util.List;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalLocalWindowAggregate;

/** A LocalWindowAggregate about which is decided. */
final class LocalWindowAggregateRel extends StreamPhysicalLocalWindowAggregate
    implements MillraceRel {
  static final String KIND = "LocalWindowAggregate";

  private final Decision<LocalWindowAggregateSpec> decision;

  LocalWindowAggregateRel(
      StreamPhysicalLocalWindowAggregate aggregate,
      RelTraitSet traits,
      RelNode input,
      Decision<LocalWindowAggregateSpec> decision) {
    super(
        aggregate.getCluster(),
        traits,
        input,
        aggregate.grouping(),
        aggregate.aggCalls(),
        aggregate.windowing());
    this.decision = decision;
  }

  @Override
  public Decision<LocalWindowAggregateSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return new LocalWindowAggregateRel(this, getTraitSet(), getInput(), Decision.kept(reason));
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
    return decision.explain(super.explainTerms(terms), this);
  }

  @Override
  public RelNode copy(RelTraitSet traits, List<RelNode> inputs) {
    return new LocalWindowAggregateRel(this, traits, inputs.get(0), decision);
  }

  @Override
  public ExecNode<?> translateToExecNode(boolean isCompiled) {
    return isCompiled || !decision.isReplaced()
        ? super.translateToExecNode(isCompiled)
        : new KeysFirstExecNode(
            KIND,
            decision.spec().aggregates(),
            decision.spec().output(),
            NodeInput.of(getInput()),
            getRelDetailedDescription());
  }
}
