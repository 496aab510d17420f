// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.window;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.RepeatTransform;
import io.millrace.operators.transform.TableTransform;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.planner.delegation.PlannerBase;

/**
 * Rows with their windows: copies of rows in one operator, and what tells them apart in another.
 */
final class WindowTableFunctionExecNode extends MillraceExecNode {
  private final WindowTableFunctionSpec spec;

  WindowTableFunctionExecNode(WindowTableFunctionSpec spec, NodeInput input, String description) {
    super(WindowTableFunctionRel.KIND, List.of(input), spec.output(), description);
    this.spec = spec;
  }

  @Override
  protected boolean reusesRows() {
    return true;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    Transformation<ColumnBatch> rows = inputBatches(0, planner);
    Schema input = ColumnBatchTypeInformation.schemaOf(rows.getOutputType());
    PlanContext context = new PlanContext(planner.getTableConfig());
    CalcPlan plan = spec.plan(input, context.expressionSettings());
    AlignedWindows windows = spec.windows();
    Transformation<ColumnBatch> copies =
        windows.isTumbling()
            ? rows
            : transformed(
                rows,
                "copies",
                RepeatTransform.factory(windows.count(), WindowTableFunctionSpec.NUMBER),
                spec.repeatedSchema(input),
                planner);
    return transformed(copies, "", plan.transforms(), plan.outputSchema(), planner);
  }

  private Transformation<ColumnBatch> transformed(
      Transformation<ColumnBatch> input,
      String step,
      TableTransform.Factory transforms,
      Schema output,
      PlannerBase planner) {
    return append(
        input,
        step,
        TransformOperator.factory(transforms),
        new ColumnBatchTypeInformation(output),
        planner.getTableConfig());
  }
}
