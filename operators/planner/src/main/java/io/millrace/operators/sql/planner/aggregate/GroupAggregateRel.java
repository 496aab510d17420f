// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeInput;
import java.util.List;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalGroupAggregate;

/** A GroupAggregate about which is decided. */
final class GroupAggregateRel extends StreamPhysicalGroupAggregate implements MillraceRel {
  static final String KIND = "GroupAggregate";

  private final Decision<GroupAggregateSpec> decision;

  GroupAggregateRel(
      StreamPhysicalGroupAggregate aggregate,
      RelTraitSet traits,
      RelNode input,
      Decision<GroupAggregateSpec> decision) {
    super(
        aggregate.getCluster(),
        traits,
        input,
        aggregate.getRowType(),
        aggregate.grouping(),
        aggregate.aggCalls(),
        aggregate.partialFinalType(),
        aggregate.hints());
    this.decision = decision;
  }

  @Override
  public Decision<GroupAggregateSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return new GroupAggregateRel(this, getTraitSet(), getInput(), Decision.kept(reason));
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
    return new GroupAggregateRel(this, traits, inputs.get(0), decision);
  }

  @Override
  public ExecNode<?> translateToExecNode(boolean isCompiled) {
    return isCompiled || !decision.isReplaced()
        ? super.translateToExecNode(isCompiled)
        : new GroupAggregateExecNode(
            KIND, decision.spec(), NodeInput.of(getInput()), getRelDetailedDescription());
  }
}
