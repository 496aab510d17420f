// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.sink;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeInput;
import java.util.List;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.hint.RelHint;
import org.apache.flink.table.api.InsertConflictStrategy;
import org.apache.flink.table.catalog.ContextResolvedTable;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.planner.plan.abilities.sink.SinkAbilitySpec;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalSink;

/** A sink about which is decided. */
final class SinkRel extends StreamPhysicalSink implements MillraceRel {
  static final String KIND = "Sink";

  private final Decision<SinkSpec> decision;

  SinkRel(
      RelOptCluster cluster,
      RelTraitSet traits,
      RelNode input,
      List<RelHint> hints,
      ContextResolvedTable table,
      DynamicTableSink sink,
      int[][] targetColumns,
      SinkAbilitySpec[] abilities,
      boolean upsertMaterialize,
      InsertConflictStrategy conflictStrategy,
      Decision<SinkSpec> decision) {
    super(
        cluster,
        traits,
        input,
        hints,
        table,
        sink,
        targetColumns,
        abilities,
        upsertMaterialize,
        conflictStrategy);
    this.decision = decision;
  }

  @Override
  public Decision<SinkSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return with(getTraitSet(), getInput(), Decision.kept(reason));
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
    return with(traits, inputs.get(0), decision);
  }

  @SuppressWarnings("deprecation") // the constructor of Flink's node takes the columns
  private SinkRel with(RelTraitSet traits, RelNode input, Decision<SinkSpec> newDecision) {
    return new SinkRel(
        getCluster(),
        traits,
        input,
        hints(),
        contextResolvedTable(),
        tableSink(),
        targetColumns(),
        abilitySpecs(),
        upsertMaterialize(),
        conflictStrategy(),
        newDecision);
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
        ? new SinkExecNode(decision.spec(), NodeInput.of(getInput()), getRelDetailedDescription())
        : super.translateToExecNode();
  }
}
