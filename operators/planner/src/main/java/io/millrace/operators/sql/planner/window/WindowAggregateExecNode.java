// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.window;

import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.window.WindowAggregateOperator;
import io.millrace.operators.window.WindowAggregatePlan;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** Aggregates by key and window, whose state is on the device. */
final class WindowAggregateExecNode extends MillraceExecNode {
  private final WindowAggregateSpec spec;

  WindowAggregateExecNode(
      String kind, WindowAggregateSpec spec, NodeInput input, String description) {
    super(kind, List.of(input), spec.output(), description);
    this.spec = spec;
  }

  @Override
  protected boolean reusesRows() {
    return true;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    Transformation<ColumnBatch> input = inputBatches(0, planner);
    ExpressionSettings settings = new PlanContext(planner.getTableConfig()).expressionSettings();
    WindowAggregatePlan plan =
        spec.plan(ColumnBatchTypeInformation.schemaOf(input.getOutputType()), settings);
    Transformation<ColumnBatch> results =
        appendKeyed(
            input,
            WindowAggregateOperator.factory(plan, null),
            plan.outputSchema(),
            planner.getTableConfig());
    CalcPlan selected = spec.selected(plan.outputSchema(), settings);
    Schema output = selected.outputSchema();
    return output.equals(plan.outputSchema())
        ? results
        : append(
            results,
            "columns",
            TransformOperator.factory(selected.transforms()),
            new ColumnBatchTypeInformation(output),
            planner.getTableConfig());
  }
}
