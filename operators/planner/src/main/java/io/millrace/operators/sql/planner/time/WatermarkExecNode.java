// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.time;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.rex.BatchColumns;
import io.millrace.operators.sql.runtime.BatchWatermarkOperator;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** Watermarks behind batches. */
final class WatermarkExecNode extends MillraceExecNode {
  private final WatermarkSpec spec;

  WatermarkExecNode(WatermarkSpec spec, NodeInput input, String description) {
    super(WatermarkRel.KIND, List.of(input), spec.output(), description);
    this.spec = spec;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    TableConfig config = planner.getTableConfig();
    Transformation<ColumnBatch> input = inputBatches(0, planner);
    Schema schema = ColumnBatchTypeInformation.schemaOf(input.getOutputType());
    CalcPlan times =
        spec.times().plan(new BatchColumns(schema), new PlanContext(config).expressionSettings());
    return append(
        input,
        "",
        BatchWatermarkOperator.factory(
            times, config.get(ExecutionConfigOptions.TABLE_EXEC_SOURCE_IDLE_TIMEOUT)),
        new ColumnBatchTypeInformation(schema),
        config);
  }
}
