// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.time;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeInput;
import java.util.List;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalMiniBatchAssigner;

/** A MiniBatchAssigner about which is decided. */
final class MiniBatchRel extends StreamPhysicalMiniBatchAssigner implements MillraceRel {
  static final String KIND = "MiniBatchAssigner";

  private final Decision<MiniBatchSpec> decision;

  MiniBatchRel(
      RelOptCluster cluster, RelTraitSet traits, RelNode input, Decision<MiniBatchSpec> decision) {
    super(cluster, traits, input);
    this.decision = decision;
  }

  @Override
  public Decision<MiniBatchSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return new MiniBatchRel(getCluster(), getTraitSet(), getInput(), Decision.kept(reason));
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
    return new MiniBatchRel(getCluster(), traits, inputs.get(0), decision);
  }

  @Override
  public ExecNode<?> translateToExecNode(boolean isCompiled) {
    return isCompiled || !decision.isReplaced()
        ? super.translateToExecNode(isCompiled)
        : new MiniBatchExecNode(
            decision.spec(), NodeInput.of(getInput()), getRelDetailedDescription());
  }
}
