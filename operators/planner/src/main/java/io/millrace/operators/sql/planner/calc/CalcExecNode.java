// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.calc;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.rex.BatchColumns;
import io.millrace.operators.sql.planner.rex.InputColumns;
import io.millrace.operators.sql.planner.rex.LeafColumns;
import io.millrace.operators.transfer.WatermarkMode;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** A filter and projections in one operator on batches. */
final class CalcExecNode extends MillraceExecNode {
  private final CalcSpec spec;

  CalcExecNode(CalcSpec spec, NodeInput input, String description) {
    super(CalcRel.KIND, List.of(input), spec.output(), description);
    this.spec = spec;
  }

  /** The input as batches, and their columns. */
  private record Input(Transformation<ColumnBatch> batches, InputColumns columns) {}

  @Override
  protected boolean reusesRows() {
    return true;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    TableConfig config = planner.getTableConfig();
    Input input = takesBatches(0) ? batches(planner) : rows(planner);
    CalcPlan plan = spec.plan(input.columns, new PlanContext(config).expressionSettings());
    return append(
        input.batches,
        "",
        TransformOperator.factory(plan.transforms()),
        new ColumnBatchTypeInformation(plan.outputSchema()),
        config);
  }

  private Input batches(PlannerBase planner) {
    Transformation<ColumnBatch> batches = inputBatches(0, planner);
    return new Input(
        batches, new BatchColumns(ColumnBatchTypeInformation.schemaOf(batches.getOutputType())));
  }

  private Input rows(PlannerBase planner) {
    LeafColumns columns = new LeafColumns(inputType(0), spec.expressions(), isInsertOnly(0));
    BatchOptions options = new PlanContext(planner.getTableConfig()).batchOptions();
    return new Input(
        batched(
            0,
            columns.schema(),
            columns.appenders(),
            spec.readsWatermark() ? options.withWatermarks(WatermarkMode.FLUSH) : options,
            planner),
        columns);
  }
}
