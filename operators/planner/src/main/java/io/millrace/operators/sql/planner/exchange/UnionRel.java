// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.exchange;

import io.millrace.operators.sql.planner.exchange.UnionMatcher.Spec;
import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeInput;
import java.util.List;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.core.SetOp;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalUnion;

/** A Union about which is decided. */
final class UnionRel extends StreamPhysicalUnion implements MillraceRel {
  static final String KIND = "Union";

  private final RelDataType type;
  private final Decision<Spec> decision;

  UnionRel(
      RelOptCluster cluster,
      RelTraitSet traits,
      List<RelNode> inputs,
      boolean all,
      RelDataType type,
      Decision<Spec> decision) {
    super(cluster, traits, inputs, all, type);
    this.type = type;
    this.decision = decision;
  }

  @Override
  public Decision<Spec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return new UnionRel(getCluster(), getTraitSet(), getInputs(), all, type, Decision.kept(reason));
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
  public SetOp copy(RelTraitSet traits, List<RelNode> inputs, boolean newAll) {
    return new UnionRel(getCluster(), traits, inputs, newAll, type, decision);
  }

  @Override
  public ExecNode<?> translateToExecNode(boolean isCompiled) {
    return isCompiled || !decision.isReplaced()
        ? super.translateToExecNode(isCompiled)
        : new UnionExecNode(
            decision.spec(),
            getInputs().stream().map(NodeInput::of).toList(),
            getRelDetailedDescription());
  }
}
