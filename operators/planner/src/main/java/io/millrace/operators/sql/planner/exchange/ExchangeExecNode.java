// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.exchange;

import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.exchange.ExchangeTransformations;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.transfer.WatermarkMode;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** Batches sent to the subtasks that own the key groups of their rows, or to one subtask. */
final class ExchangeExecNode extends MillraceExecNode {
  private final ExchangeSpec spec;
  private transient Transformation<ColumnBatch> holding;

  ExchangeExecNode(ExchangeSpec spec, NodeInput input, String description) {
    super(ExchangeRel.KIND, List.of(input), spec.output(), description);
    this.spec = spec;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    return exchanged(planner, WatermarkMode.FLUSH);
  }

  @Override
  public Transformation<ColumnBatch> translateToBatches(
      PlannerBase planner, WatermarkMode watermarks) {
    if (watermarks == WatermarkMode.FLUSH) {
      return translateToBatches(planner);
    }
    if (holding == null) {
      holding = exchanged(planner, watermarks);
    }
    return holding;
  }

  /**
   * The batches with one form of NaN in their keys, as state has it: rows are sent, and their state
   * is restored, by the bits of keys.
   */
  private Transformation<ColumnBatch> withOneNaN(
      Transformation<ColumnBatch> batches, TableConfig config) {
    Schema schema = ColumnBatchTypeInformation.schemaOf(batches.getOutputType());
    List<Integer> keys =
        spec.keys().orElse(List.of()).stream()
            .filter(key -> schema.type(key).isFloatingPoint())
            .toList();
    if (keys.isEmpty()) {
      return batches;
    }
    CalcPlan plan = CalcPlan.of(schema, new PlanContext(config).expressionSettings());
    for (int key : keys) {
      String name = schema.field(key).name();
      Expression negated = Expressions.call("NEGATE", Expressions.col(name));
      plan = plan.withColumn(name, Expressions.call("NEGATE", negated));
    }
    return append(
        batches,
        "keys",
        TransformOperator.factory(plan.transforms()),
        new ColumnBatchTypeInformation(plan.outputSchema()),
        config);
  }

  private Transformation<ColumnBatch> exchanged(PlannerBase planner, WatermarkMode watermarks) {
    TableConfig config = planner.getTableConfig();
    Transformation<ColumnBatch> input = withOneNaN(inputBatches(0, planner), config);
    String name = createFormattedTransformationName(getDescription(), "MillraceExchange", config);
    Transformation<ColumnBatch> received =
        spec.keys()
            .map(keys -> ExchangeTransformations.byKey(input, keys, watermarks, name, config))
            .orElseGet(() -> ExchangeTransformations.single(input, watermarks, name, config));
    setUids(received, List.of(input), config);
    return received;
  }
}
