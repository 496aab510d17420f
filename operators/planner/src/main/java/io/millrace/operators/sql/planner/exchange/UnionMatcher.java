// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.exchange;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.NodeSpec;
import io.millrace.operators.sql.planner.node.PlanContext;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalUnion;
import org.apache.flink.table.types.logical.RowType;

/** Decides about a Union: all its inputs have to give batches. */
@Internal
public final class UnionMatcher extends NodeMatcher<StreamPhysicalUnion, UnionMatcher.Spec> {
  public UnionMatcher() {
    super(StreamPhysicalUnion.class, UnionRel.KIND);
  }

  /**
   * The rows of all inputs.
   *
   * @param output the type of the rows
   */
  @Internal
  public record Spec(RowType output) implements NodeSpec {}

  @Override
  protected Spec match(StreamPhysicalUnion union, PlanContext context) {
    union.getInputs().forEach(MillraceRel::requireBatches);
    return new Spec(FlinkTypeFactory.toLogicalRowType(union.getRowType()));
  }

  @Override
  protected RelNode decided(StreamPhysicalUnion union, Decision<Spec> decision) {
    return new UnionRel(
        union.getCluster(),
        union.getTraitSet(),
        union.getInputs(),
        union.all,
        union.getRowType(),
        decision);
  }
}
