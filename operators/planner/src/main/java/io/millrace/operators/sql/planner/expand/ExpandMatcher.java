// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.expand;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.rex.OutputTypes;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalExpand;
import org.apache.flink.table.types.logical.RowType;

/** Decides about an Expand: its columns can be appended to each other. */
@Internal
public final class ExpandMatcher extends NodeMatcher<StreamPhysicalExpand, ExpandSpec> {
  public ExpandMatcher() {
    super(StreamPhysicalExpand.class, ExpandRel.KIND);
  }

  @Override
  protected ExpandSpec match(StreamPhysicalExpand expand, PlanContext context) {
    RowType output = FlinkTypeFactory.toLogicalRowType(expand.getRowType());
    ExpandSpec spec = ExpandSpec.of(expand.projects(), output, expand.getCluster().getRexBuilder());
    OutputTypes.check(
        spec.outputSchema(
            PlannedInput.batchSchema(expand.getInput()), context.expressionSettings()),
        output);
    return spec;
  }

  @Override
  protected RelNode decided(StreamPhysicalExpand expand, Decision<ExpandSpec> decision) {
    return new ExpandRel(expand, expand.getTraitSet(), expand.getInput(), decision);
  }
}
