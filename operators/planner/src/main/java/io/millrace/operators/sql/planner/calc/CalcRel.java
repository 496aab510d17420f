// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.calc;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeInput;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.core.Calc;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexProgram;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalCalc;

/** A Calc about which is decided. */
final class CalcRel extends StreamPhysicalCalc implements MillraceRel {
  static final String KIND = "Calc";

  private final RelDataType type;
  private final Decision<CalcSpec> decision;

  CalcRel(
      RelOptCluster cluster,
      RelTraitSet traits,
      RelNode input,
      RexProgram program,
      RelDataType type,
      Decision<CalcSpec> decision) {
    super(cluster, traits, input, program, type);
    this.type = type;
    this.decision = decision;
  }

  @Override
  public Decision<CalcSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return with(getTraitSet(), getInput(), getProgram(), Decision.kept(reason));
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
  public Calc copy(RelTraitSet traits, RelNode input, RexProgram program) {
    return with(traits, input, program, decision);
  }

  private CalcRel with(
      RelTraitSet traits, RelNode input, RexProgram program, Decision<CalcSpec> newDecision) {
    return new CalcRel(getCluster(), traits, input, program, type, newDecision);
  }

  @Override
  public ExecNode<?> translateToExecNode(boolean isCompiled) {
    ExecNode<?> node = isCompiled ? super.translateToExecNode() : translateToExecNode();
    node.setCompiled(isCompiled);
    return node;
  }

  @Override
  public ExecNode<?> translateToExecNode() {
    return decision.isReplaced()
        ? new CalcExecNode(decision.spec(), NodeInput.of(getInput()), getRelDetailedDescription())
        : super.translateToExecNode();
  }
}
