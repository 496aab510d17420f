// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.calc;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.sql.planner.calc.DropUpdateBeforeMatcher.Spec;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.types.RowKind;

/** A filter by the kinds of rows; nothing where all rows are insertions. */
final class DropUpdateBeforeExecNode extends MillraceExecNode {
  DropUpdateBeforeExecNode(Spec spec, NodeInput input, String description) {
    super(DropUpdateBeforeRel.KIND, List.of(input), spec.output(), description);
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    TableConfig config = planner.getTableConfig();
    Transformation<ColumnBatch> input = inputBatches(0, planner);
    Schema schema = ColumnBatchTypeInformation.schemaOf(input.getOutputType());
    if (!RowKindColumn.isIn(schema)) {
      return input;
    }
    CalcPlan plan =
        CalcPlan.of(schema, new PlanContext(config).expressionSettings())
            .filter(call("<>", col(RowKindColumn.NAME), RowKind.UPDATE_BEFORE.toByteValue()));
    return append(
        input, "", TransformOperator.factory(plan.transforms()), input.getOutputType(), config);
  }
}
