// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.window;

import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.OutputTypes;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import io.millrace.operators.transform.CalcPlan;
import java.util.List;
import java.util.OptionalInt;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.logical.TimeAttributeWindowingStrategy;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalWindowTableFunction;
import org.apache.flink.table.types.logical.RowType;

/**
 * Decides about a WindowTableFunction: TUMBLE, HOP or CUMULATE without an aggregate above that
 * computes the windows itself.
 */
@Internal
public final class WindowTableFunctionMatcher
    extends NodeMatcher<StreamPhysicalWindowTableFunction, WindowTableFunctionSpec> {
  public WindowTableFunctionMatcher() {
    super(StreamPhysicalWindowTableFunction.class, WindowTableFunctionRel.KIND);
  }

  @Override
  protected WindowTableFunctionSpec match(
      StreamPhysicalWindowTableFunction function, PlanContext context) {
    TimeAttributeWindowingStrategy windowing = function.windowing();
    OptionalInt timeField = WindowAggregateMatcher.timeField(windowing);
    Schema input = PlannedInput.batchSchema(function.getInput());
    timeField.ifPresent(field -> checkTime(input, field));
    RowType output = FlinkTypeFactory.toLogicalRowType(function.getRowType());
    AlignedWindows windows = AlignedWindows.of(windowing.getWindow());
    WindowTableFunctionSpec spec =
        new WindowTableFunctionSpec(windows, timeField, output, List.of());
    CalcPlan plan = spec.plan(input, context.expressionSettings());
    OutputTypes.check(plan.outputSchema(), output);
    return new WindowTableFunctionSpec(windows, timeField, output, plan.calc().hostReasons());
  }

  private static void checkTime(Schema input, int field) {
    if (input.type(field).id() != TypeId.TIMESTAMP_MILLIS) {
      throw new UnsupportedNodeException("its times are " + input.type(field));
    }
  }

  @Override
  protected RelNode decided(
      StreamPhysicalWindowTableFunction function, Decision<WindowTableFunctionSpec> decision) {
    return new WindowTableFunctionRel(
        function, function.getTraitSet(), function.getInput(), decision);
  }
}
