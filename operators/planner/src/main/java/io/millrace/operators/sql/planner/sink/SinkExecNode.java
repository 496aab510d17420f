// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.sink;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.sql.planner.node.BatchInputExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.runtime.SinkColumns;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeConfig;

/** A sink of batches. */
final class SinkExecNode extends BatchInputExecNode<Object> {
  private final SinkSpec spec;

  SinkExecNode(SinkSpec spec, NodeInput input, String description) {
    super(SinkRel.KIND, List.of(input), spec.consumed(), description);
    this.spec = spec;
  }

  @Override
  @SuppressWarnings({"deprecation", "unchecked"}) // as Flink's node for sinks
  protected Transformation<Object> translateToPlanInternal(
      PlannerBase planner, ExecNodeConfig config) {
    Transformation<ColumnBatch> batches = withoutNulls(inputBatches(0, planner), planner);
    DataStream<ColumnBatch> stream = new DataStream<>(planner.getExecEnv(), batches);
    Transformation<?> sink =
        spec.sink()
            .consumeBatches(providerContext(planner.getTableConfig()), stream)
            .getTransformation();
    return (Transformation<Object>) sink;
  }

  private Transformation<ColumnBatch> withoutNulls(
      Transformation<ColumnBatch> input, PlannerBase planner) {
    TableConfig config = planner.getTableConfig();
    Schema given = ColumnBatchTypeInformation.schemaOf(input.getOutputType());
    Schema table = SchemaConverter.toSchema(spec.consumed());
    Schema taken = RowKindColumn.isIn(given) ? RowKindColumn.addTo(table) : table;
    Transformation<ColumnBatch> kept = input;
    Optional<Expression> condition = spec.dropsNulls() ? noNulls(given, taken) : Optional.empty();
    if (condition.isPresent()) {
      CalcPlan filter = CalcPlan.of(given, ExpressionSettings.DEFAULT).filter(condition.get());
      kept = append(kept, "not null", filter, config);
    }
    return given.equals(taken)
        ? kept
        : append(
            kept,
            "columns",
            TransformOperator.factory(SinkColumns.factory(taken)),
            new ColumnBatchTypeInformation(taken),
            config);
  }

  private Transformation<ColumnBatch> append(
      Transformation<ColumnBatch> input, String step, CalcPlan plan, TableConfig config) {
    return append(
        input,
        step,
        TransformOperator.factory(plan.transforms()),
        new ColumnBatchTypeInformation(plan.outputSchema()),
        config);
  }

  private static Optional<Expression> noNulls(Schema given, Schema taken) {
    return IntStream.range(0, given.size())
        .filter(i -> given.field(i).nullable() && !taken.field(i).nullable())
        .mapToObj(given::field)
        .map(Field::name)
        .map(name -> Expressions.col(name).isNotNull())
        .reduce((left, right) -> left.and(right));
  }
}
