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
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalWindowAggregate;

/** A WindowAggregate about which is decided. */
final class WindowAggregateRel extends StreamPhysicalWindowAggregate implements MillraceRel {
  static final String KIND = "WindowAggregate";

  private final Decision<WindowAggregateSpec> decision;

  WindowAggregateRel(
      StreamPhysicalWindowAggregate aggregate,
      RelTraitSet traits,
      RelNode input,
      Decision<WindowAggregateSpec> decision) {
    super(
        aggregate.getCluster(),
        traits,
        input,
        aggregate.grouping(),
        aggregate.aggCalls(),
        aggregate.windowing(),
        aggregate.namedWindowProperties());
    this.decision = decision;
  }

  @Override
  public Decision<WindowAggregateSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return new WindowAggregateRel(this, getTraitSet(), getInput(), Decision.kept(reason));
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
    return new WindowAggregateRel(this, traits, inputs.get(0), decision);
  }

  @Override
  public ExecNode<?> translateToExecNode(boolean isCompiled) {
    return isCompiled || !decision.isReplaced()
        ? super.translateToExecNode(isCompiled)
        : new WindowAggregateExecNode(
            KIND, decision.spec(), NodeInput.of(getInput()), getRelDetailedDescription());
  }
}
