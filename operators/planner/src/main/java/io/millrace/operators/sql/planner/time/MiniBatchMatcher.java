// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.time;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalMiniBatchAssigner;
import org.apache.flink.table.planner.plan.trait.MiniBatchInterval;
import org.apache.flink.table.planner.plan.trait.MiniBatchIntervalTraitDef;
import org.apache.flink.table.planner.plan.trait.MiniBatchMode;

/** Decides about a MiniBatchAssigner: it has to be given batches. */
@Internal
public final class MiniBatchMatcher
    extends NodeMatcher<StreamPhysicalMiniBatchAssigner, MiniBatchSpec> {
  public MiniBatchMatcher() {
    super(StreamPhysicalMiniBatchAssigner.class, MiniBatchRel.KIND);
  }

  @Override
  protected MiniBatchSpec match(StreamPhysicalMiniBatchAssigner assigner, PlanContext context) {
    MillraceRel.requireBatches(assigner.getInput());
    MiniBatchInterval interval =
        assigner
            .getTraitSet()
            .getTrait(MiniBatchIntervalTraitDef.INSTANCE())
            .getMiniBatchInterval();
    if (interval.getMode() == MiniBatchMode.None) {
      throw new UnsupportedNodeException("it has no interval");
    }
    return new MiniBatchSpec(interval, FlinkTypeFactory.toLogicalRowType(assigner.getRowType()));
  }

  @Override
  protected RelNode decided(
      StreamPhysicalMiniBatchAssigner assigner, Decision<MiniBatchSpec> decision) {
    return new MiniBatchRel(
        assigner.getCluster(), assigner.getTraitSet(), assigner.getInput(), decision);
  }
}
