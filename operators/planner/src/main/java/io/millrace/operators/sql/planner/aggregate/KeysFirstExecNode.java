// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.types.logical.RowType;

/** A first phase that sends rows as they are, with their keys first. */
@Internal
public final class KeysFirstExecNode extends MillraceExecNode {
  private final KeyedAggregates aggregates;

  /**
   * @param kind Flink's name of the first phase
   * @param output the type of the rows that Flink's first phase gives
   */
  public KeysFirstExecNode(
      String kind,
      KeyedAggregates aggregates,
      RowType output,
      NodeInput input,
      String description) {
    super(kind, List.of(input), output, description);
    this.aggregates = aggregates;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    Transformation<ColumnBatch> input = inputBatches(0, planner);
    Schema schema = ColumnBatchTypeInformation.schemaOf(input.getOutputType());
    PlanContext context = new PlanContext(planner.getTableConfig());
    CalcPlan plan = aggregates.selectKeysFirst(schema, context.expressionSettings());
    return append(
        input,
        "",
        TransformOperator.factory(plan.transforms()),
        new ColumnBatchTypeInformation(plan.outputSchema()),
        planner.getTableConfig());
  }
}
