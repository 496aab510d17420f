// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.ArgumentOperator;
import io.millrace.operators.aggregate.GroupAggregateOperator;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.aggregate.TwoPhasePlan;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.transfer.WatermarkMode;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;

/** Aggregates by key, whose state is on the device: in one phase, or as the second of two. */
class GroupAggregateExecNode extends MillraceExecNode {
  private final GroupAggregateSpec spec;

  GroupAggregateExecNode(
      String kind, GroupAggregateSpec spec, NodeInput input, String description) {
    this(kind, spec, spec.output(), input, description);
  }

  /**
   * @param output the type of the rows that Flink's node gives
   */
  GroupAggregateExecNode(
      String kind, GroupAggregateSpec spec, RowType output, NodeInput input, String description) {
    super(kind, List.of(input), output, description);
    this.spec = spec;
  }

  @Override
  protected boolean reusesRows() {
    return true;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    WatermarkMode watermarks = new PlanContext(planner.getTableConfig()).watermarks();
    Transformation<ColumnBatch> input = inputBatches(0, watermarks, planner);
    Transformation<ColumnBatch> changes =
        spec.combines() ? combined(input, planner) : aggregated(input, planner);
    return spec.aggregates().calls().isEmpty() ? keys(changes, planner) : changes;
  }

  /** The keys that came and went. With a time-to-live also those that stay, as Flink has them. */
  private Transformation<ColumnBatch> keys(
      Transformation<ColumnBatch> changes, PlannerBase planner) {
    ExpressionSettings settings = new PlanContext(planner.getTableConfig()).expressionSettings();
    Schema schema = ColumnBatchTypeInformation.schemaOf(changes.getOutputType());
    CalcPlan all = CalcPlan.of(schema, settings);
    CalcPlan changed =
        spec.aggregates().stateTtl().isNone()
            ? all.filter(
                Expressions.col(RowKindColumn.NAME)
                    .in(RowKind.INSERT.toByteValue(), RowKind.DELETE.toByteValue()))
            : all;
    CalcPlan keys =
        changed.select(
            schema.names().subList(0, spec.aggregates().keys().size()).stream()
                .<Expression>map(Expressions::col)
                .toList());
    return append(
        changes,
        "keys",
        TransformOperator.factory(keys.transforms()),
        new ColumnBatchTypeInformation(keys.outputSchema()),
        planner.getTableConfig());
  }

  private Transformation<ColumnBatch> combined(
      Transformation<ColumnBatch> partials, PlannerBase planner) {
    ExecNode<?> exchange = getInputEdges().get(0).getSource();
    FirstPhaseExecNode first = (FirstPhaseExecNode) exchange.getInputEdges().get(0).getSource();
    TwoPhasePlan plan = first.twoPhasePlan(spec.aggregates(), planner);
    TwoPhasePlan given = spec.givesUpdateBefore() ? plan : plan.withoutUpdateBefore();
    return appendKeyed(
        partials,
        GroupAggregateOperator.factory(given),
        given.outputSchema(),
        planner.getTableConfig());
  }

  private Transformation<ColumnBatch> aggregated(
      Transformation<ColumnBatch> rows, PlannerBase planner) {
    PlanContext context = new PlanContext(planner.getTableConfig());
    Schema schema = ColumnBatchTypeInformation.schemaOf(rows.getOutputType());
    GroupAggregatePlan all = spec.aggregates().plan(schema, context.expressionSettings());
    GroupAggregatePlan plan = spec.givesUpdateBefore() ? all : all.withoutUpdateBefore();
    Transformation<ColumnBatch> arguments = rows;
    for (int i = 0; i < plan.keptArguments().size(); i++) {
      arguments =
          appendKeyed(
              arguments,
              plan.keptArguments().get(i).operator(),
              plan.keptArguments().get(i).uidSuffix(),
              ArgumentOperator.factory(plan, i),
              plan.argumentSchema(),
              planner.getTableConfig());
    }
    return appendKeyed(
        arguments,
        GroupAggregateOperator.factory(plan),
        plan.outputSchema(),
        planner.getTableConfig());
  }
}
