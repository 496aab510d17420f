// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.calc;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.NodeSpec;
import io.millrace.operators.sql.planner.node.PlanContext;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalDropUpdateBefore;
import org.apache.flink.table.types.logical.RowType;

/** Decides about a DropUpdateBefore: it has to be given batches. */
@Internal
public final class DropUpdateBeforeMatcher
    extends NodeMatcher<StreamPhysicalDropUpdateBefore, DropUpdateBeforeMatcher.Spec> {
  public DropUpdateBeforeMatcher() {
    super(StreamPhysicalDropUpdateBefore.class, DropUpdateBeforeRel.KIND);
  }

  /**
   * Rows without those that an update takes back.
   *
   * @param output the type of the rows
   */
  @Internal
  public record Spec(RowType output) implements NodeSpec {}

  @Override
  protected Spec match(StreamPhysicalDropUpdateBefore node, PlanContext context) {
    MillraceRel.requireBatches(node.getInput());
    return new Spec(FlinkTypeFactory.toLogicalRowType(node.getRowType()));
  }

  @Override
  protected RelNode decided(StreamPhysicalDropUpdateBefore node, Decision<Spec> decision) {
    return new DropUpdateBeforeRel(
        node.getCluster(), node.getTraitSet(), node.getInput(), decision);
  }
}
