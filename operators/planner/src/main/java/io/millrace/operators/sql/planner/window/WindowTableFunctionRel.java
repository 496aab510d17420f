// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.window;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeInput;
import java.util.List;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalWindowTableFunction;

/** A WindowTableFunction about which is decided. */
final class WindowTableFunctionRel extends StreamPhysicalWindowTableFunction
    implements MillraceRel {
  static final String KIND = "WindowTableFunction";

  private final Decision<WindowTableFunctionSpec> decision;

  WindowTableFunctionRel(
      StreamPhysicalWindowTableFunction function,
      RelTraitSet traits,
      RelNode input,
      Decision<WindowTableFunctionSpec> decision) {
    super(function.getCluster(), traits, input, function.getRowType(), function.windowing());
    this.decision = decision;
  }

  @Override
  public Decision<WindowTableFunctionSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return new WindowTableFunctionRel(this, getTraitSet(), getInput(), Decision.kept(reason));
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
    return new WindowTableFunctionRel(this, traits, inputs.get(0), decision);
  }

  @Override
  public ExecNode<?> translateToExecNode(boolean isCompiled) {
    return isCompiled || !decision.isReplaced()
        ? super.translateToExecNode(isCompiled)
        : new WindowTableFunctionExecNode(
            decision.spec(), NodeInput.of(getInput()), getRelDetailedDescription());
  }
}
