// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.deduplicate;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeInput;
import java.util.List;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalRank;

/** A Rank about which is decided. Flink names it a Deduplicate where one is executed for it. */
@Internal
public final class DeduplicateRel extends StreamPhysicalRank implements MillraceRel {
  static final String KIND = "Deduplicate";
  private static final String KIND_OF_OTHERS = "Rank";

  private Decision<DeduplicateSpec> decision;

  DeduplicateRel(
      StreamPhysicalRank rank,
      RelTraitSet traits,
      RelNode input,
      Decision<DeduplicateSpec> decision) {
    super(
        rank.getCluster(),
        traits,
        input,
        rank.partitionKey(),
        rank.orderKey(),
        rank.rankType(),
        rank.rankRange(),
        rank.rankNumberType(),
        rank.outputRankNumber(),
        rank.rankStrategy(),
        rank.sortOnRowTime());
    this.decision = decision;
  }

  @Override
  public Decision<DeduplicateSpec> decision() {
    return decision;
  }

  @Override
  public String kind() {
    return decision.isReplaced() ? KIND : KIND_OF_OTHERS;
  }

  /**
   * Lets the node stay Flink's if that gives each version of a row with its event time. Changes
   * this node, as a plan of other sinks may have it already.
   */
  public void keepAllVersions() {
    if (decision.isSupported() && decision.spec().timeField().isPresent()) {
      decision = Decision.kept("a temporal join needs all versions of a row");
    }
  }

  @Override
  public RelNode kept(String reason) {
    return new DeduplicateRel(this, getTraitSet(), getInput(), Decision.kept(reason));
  }

  @Override
  public String getRelTypeName() {
    return decision.typeName(kind());
  }

  @Override
  public RelWriter explainTerms(RelWriter terms) {
    return decision.explain(super.explainTerms(terms), this);
  }

  @Override
  public RelNode copy(RelTraitSet traits, List<RelNode> inputs) {
    return new DeduplicateRel(this, traits, inputs.get(0), decision);
  }

  @Override
  public ExecNode<?> translateToExecNode(boolean isCompiled) {
    return isCompiled || !decision.isReplaced()
        ? super.translateToExecNode(isCompiled)
        : new DeduplicateExecNode(
            decision.spec(), NodeInput.of(getInput()), getRelDetailedDescription());
  }
}
