// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.exchange;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeInput;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelDistribution;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalExchange;

/** An Exchange about which is decided. */
final class ExchangeRel extends StreamPhysicalExchange implements MillraceRel {
  static final String KIND = "Exchange";

  private final Decision<ExchangeSpec> decision;

  ExchangeRel(
      RelOptCluster cluster,
      RelTraitSet traits,
      RelNode input,
      RelDistribution distribution,
      Decision<ExchangeSpec> decision) {
    super(cluster, traits, input, distribution);
    this.decision = decision;
  }

  @Override
  public Decision<ExchangeSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return new ExchangeRel(
        getCluster(), getTraitSet(), getInput(), getDistribution(), Decision.kept(reason));
  }

  @Override
  public boolean givesPartials() {
    return decision.isSupported() && getInput() instanceof MillraceRel rel && rel.givesPartials();
  }

  @Override
  public boolean takesPartials() {
    return givesPartials();
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
  public StreamPhysicalExchange copy(
      RelTraitSet traits, RelNode input, RelDistribution distribution) {
    return new ExchangeRel(getCluster(), traits, input, distribution, decision);
  }

  @Override
  public ExecNode<?> translateToExecNode(boolean isCompiled) {
    return isCompiled || !decision.isReplaced()
        ? super.translateToExecNode(isCompiled)
        : new ExchangeExecNode(
            decision.spec(),
            NodeInput.of(getInput(), getRequiredDistribution()),
            getRelDetailedDescription());
  }
}
