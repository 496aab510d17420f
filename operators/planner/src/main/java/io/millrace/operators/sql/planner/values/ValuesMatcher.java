// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.values;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalValues;
import org.apache.flink.table.types.logical.RowType;

/** Decides about rows of literals: each type has to be one of columns. */
@Internal
public final class ValuesMatcher extends NodeMatcher<StreamPhysicalValues, ValuesSpec> {
  public ValuesMatcher() {
    super(StreamPhysicalValues.class, ValuesRel.KIND);
  }

  @Override
  protected ValuesSpec match(StreamPhysicalValues values, PlanContext context) {
    RowType output = FlinkTypeFactory.toLogicalRowType(values.getRowType());
    if (PlannedInput.schema(output).size() == 0) {
      throw new UnsupportedNodeException("its rows have no fields");
    }
    return new ValuesSpec(output);
  }

  @Override
  protected RelNode decided(StreamPhysicalValues values, Decision<ValuesSpec> decision) {
    return new ValuesRel(
        values.getCluster(),
        values.getTraitSet(),
        values.getTuples(),
        values.getRowType(),
        decision);
  }
}
