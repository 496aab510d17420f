// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.source;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import java.util.List;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.hint.RelHint;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalTableSourceScan;
import org.apache.flink.table.planner.plan.schema.TableSourceTable;

/** A scan about which is decided. */
final class ScanRel extends StreamPhysicalTableSourceScan implements MillraceRel {
  static final String KIND = "TableSourceScan";

  private final TableSourceTable sourceTable;
  private final boolean needsSnapshots;
  private final Decision<ScanSpec> decision;

  ScanRel(
      RelOptCluster cluster,
      RelTraitSet traits,
      List<RelHint> hints,
      TableSourceTable sourceTable,
      boolean needsSnapshots,
      Decision<ScanSpec> decision) {
    super(cluster, traits, hints, sourceTable, needsSnapshots);
    this.sourceTable = sourceTable;
    this.needsSnapshots = needsSnapshots;
    this.decision = decision;
  }

  @Override
  public Decision<ScanSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return with(getTraitSet(), sourceTable, Decision.kept(reason));
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
    return with(traits, sourceTable, decision);
  }

  @Override
  public RelNode copy(TableSourceTable newTable) {
    return with(getTraitSet(), newTable, decision.isSupported() ? decided(newTable) : decision);
  }

  // The table may have further columns, which another scan of it reads.
  private Decision<ScanSpec> decided(TableSourceTable newTable) {
    try {
      return new Decision<>(ScanSpec.of(newTable), null, decision.executed());
    } catch (UnsupportedNodeException e) {
      return Decision.kept(e.getMessage());
    }
  }

  private ScanRel with(
      RelTraitSet traits, TableSourceTable newTable, Decision<ScanSpec> newDecision) {
    return new ScanRel(getCluster(), traits, getHints(), newTable, needsSnapshots, newDecision);
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
        ? new ScanExecNode(decision.spec(), getRelDetailedDescription())
        : super.translateToExecNode();
  }
}
