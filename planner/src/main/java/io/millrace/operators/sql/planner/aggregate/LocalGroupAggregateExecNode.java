// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.LocalGroupAggregateOperator;
import io.millrace.operators.aggregate.TwoPhasePlan;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** The first phase of aggregates, in front of the exchange. */
final class LocalGroupAggregateExecNode extends MillraceExecNode {
  private final LocalGroupAggregateSpec spec;

  LocalGroupAggregateExecNode(LocalGroupAggregateSpec spec, NodeInput input, String description) {
    super(LocalGroupAggregateRel.KIND, List.of(input), spec.output(), description);
    this.spec = spec;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    return spec.combines() ? combined(planner) : keysFirst(planner);
  }

  private Transformation<ColumnBatch> combined(PlannerBase planner) {
    TwoPhasePlan plan = twoPhasePlan(spec.aggregates(), planner);
    return append(
        inputBatches(0, planner),
        "",
        LocalGroupAggregateOperator.factory(plan),
        new ColumnBatchTypeInformation(plan.partials()),
        planner.getTableConfig());
  }

  /**
   * Aggregates over the input of this node.
   *
   * @param aggregates those of this node, with the names of the second phase
   */
  TwoPhasePlan twoPhasePlan(KeyedAggregates aggregates, PlannerBase planner) {
    return aggregates.twoPhasePlan(inputSchema(planner), settings(planner)).orElseThrow();
  }

  private Schema inputSchema(PlannerBase planner) {
    return ColumnBatchTypeInformation.schemaOf(inputBatches(0, planner).getOutputType());
  }

  private static ExpressionSettings settings(PlannerBase planner) {
    return new PlanContext(planner.getTableConfig()).expressionSettings();
  }

  private Transformation<ColumnBatch> keysFirst(PlannerBase planner) {
    Schema input = inputSchema(planner);
    List<Expression> columns =
        spec.aggregates().keysFirst(input).stream().map(Expressions::col).toList();
    CalcPlan plan = CalcPlan.of(input, settings(planner)).select(columns);
    return append(
        inputBatches(0, planner),
        "",
        TransformOperator.factory(plan.transforms()),
        new ColumnBatchTypeInformation(plan.outputSchema()),
        planner.getTableConfig());
  }
}
