// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.expand;

import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.transform.ExpandTransform;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** Several projections of each row in one operator on batches. */
final class ExpandExecNode extends MillraceExecNode {
  private final ExpandSpec spec;

  ExpandExecNode(ExpandSpec spec, NodeInput input, String description) {
    super(ExpandRel.KIND, List.of(input), spec.output(), description);
    this.spec = spec;
  }

  @Override
  protected boolean reusesRows() {
    return true;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    Transformation<ColumnBatch> input = inputBatches(0, planner);
    Schema schema = ColumnBatchTypeInformation.schemaOf(input.getOutputType());
    ExpressionSettings settings = new PlanContext(planner.getTableConfig()).expressionSettings();
    return append(
        input,
        "",
        TransformOperator.factory(ExpandTransform.factory(spec.plans(schema, settings))),
        new ColumnBatchTypeInformation(spec.outputSchema(schema, settings)),
        planner.getTableConfig());
  }
}
