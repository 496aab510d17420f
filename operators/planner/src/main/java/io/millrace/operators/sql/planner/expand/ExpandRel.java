// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.expand;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeInput;
import java.util.List;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalExpand;

/** An Expand about which is decided. */
final class ExpandRel extends StreamPhysicalExpand implements MillraceRel {
  static final String KIND = "Expand";

  private final Decision<ExpandSpec> decision;

  ExpandRel(
      StreamPhysicalExpand expand,
      RelTraitSet traits,
      RelNode input,
      Decision<ExpandSpec> decision) {
    super(expand.getCluster(), traits, input, expand.projects(), expand.expandIdIndex());
    this.decision = decision;
  }

  @Override
  public Decision<ExpandSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return new ExpandRel(this, getTraitSet(), getInput(), Decision.kept(reason));
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
    return new ExpandRel(this, traits, inputs.get(0), decision);
  }

  @Override
  public ExecNode<?> translateToExecNode(boolean isCompiled) {
    return isCompiled || !decision.isReplaced()
        ? super.translateToExecNode(isCompiled)
        : new ExpandExecNode(
            decision.spec(), NodeInput.of(getInput()), getRelDetailedDescription());
  }
}
