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
import org.apache.calcite.rel.hint.RelHint;
import org.apache.calcite.rex.RexNode;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalWatermarkAssigner;

/** A WatermarkAssigner about which is decided. */
final class WatermarkRel extends StreamPhysicalWatermarkAssigner implements MillraceRel {
  static final String KIND = "WatermarkAssigner";

  private final int eventTime;
  private final RexNode watermark;
  private final Decision<WatermarkSpec> decision;

  WatermarkRel(
      RelOptCluster cluster,
      RelTraitSet traits,
      RelNode input,
      List<RelHint> hints,
      int eventTime,
      RexNode watermark,
      Decision<WatermarkSpec> decision) {
    super(cluster, traits, input, hints, eventTime, watermark);
    this.eventTime = eventTime;
    this.watermark = watermark;
    this.decision = decision;
  }

  @Override
  public Decision<WatermarkSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public RelNode kept(String reason) {
    return new WatermarkRel(
        getCluster(),
        getTraitSet(),
        getInput(),
        getHints(),
        eventTime,
        watermark,
        Decision.kept(reason));
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
  public RelNode copy(
      RelTraitSet traits,
      RelNode input,
      List<RelHint> hints,
      int newEventTime,
      RexNode expression) {
    return new WatermarkRel(getCluster(), traits, input, hints, newEventTime, expression, decision);
  }

  @Override
  public ExecNode<?> translateToExecNode(boolean isCompiled) {
    return isCompiled || !decision.isReplaced()
        ? super.translateToExecNode(isCompiled)
        : new WatermarkExecNode(
            decision.spec(), NodeInput.of(getInput()), getRelDetailedDescription());
  }
}
