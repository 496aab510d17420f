// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.deduplicate;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.deduplicate.DeduplicateOperator;
import io.millrace.operators.deduplicate.DeduplicatePlan;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** The first or the last row of each key, whose state is on the device. */
final class DeduplicateExecNode extends MillraceExecNode {
  private final DeduplicateSpec spec;

  DeduplicateExecNode(DeduplicateSpec spec, NodeInput input, String description) {
    super(DeduplicateRel.KIND, List.of(input), spec.output(), description);
    this.spec = spec;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    Transformation<ColumnBatch> rows = withTimes(inputBatches(0, planner), planner);
    DeduplicatePlan plan = spec.plan(ColumnBatchTypeInformation.schemaOf(rows.getOutputType()));
    return appendKeyed(
        rows, DeduplicateOperator.factory(plan), plan.outputSchema(), planner.getTableConfig());
  }

  private Transformation<ColumnBatch> withTimes(
      Transformation<ColumnBatch> input, PlannerBase planner) {
    Schema schema = ColumnBatchTypeInformation.schemaOf(input.getOutputType());
    CalcPlan times =
        spec.withTimes(schema, new PlanContext(planner.getTableConfig()).expressionSettings());
    return times.isIdentity()
        ? input
        : append(
            input,
            "times",
            TransformOperator.factory(times.transforms()),
            new ColumnBatchTypeInformation(times.outputSchema()),
            planner.getTableConfig());
  }
}
