// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.values;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import java.util.List;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexLiteral;
import org.apache.flink.calcite.shaded.com.google.common.collect.ImmutableList;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalValues;

/** Rows of literals about which is decided. */
final class ValuesRel extends StreamPhysicalValues implements MillraceRel {
  static final String KIND = "Values";

  private final ImmutableList<ImmutableList<RexLiteral>> rows;
  private final RelDataType type;
  private final Decision<ValuesSpec> decision;

  ValuesRel(
      RelOptCluster cluster,
      RelTraitSet traits,
      ImmutableList<ImmutableList<RexLiteral>> rows,
      RelDataType type,
      Decision<ValuesSpec> decision) {
    super(cluster, traits, rows, type);
    this.rows = rows;
    this.type = type;
    this.decision = decision;
  }

  @Override
  public Decision<ValuesSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return new ValuesRel(getCluster(), getTraitSet(), rows, type, Decision.kept(reason));
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
    return new ValuesRel(getCluster(), traits, rows, type, decision);
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
        ? new ValuesExecNode(decision.spec(), rows, getRelDetailedDescription())
        : super.translateToExecNode();
  }
}
