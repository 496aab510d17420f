// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.column.Schema;
import io.millrace.operators.aggregate.ArgumentOperator;
import io.millrace.operators.aggregate.GroupAggregateOperator;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.aggregate.TwoPhasePlan;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.types.logical.RowType;

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
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    Transformation<ColumnBatch> input = inputBatches(0, planner);
    return spec.combines() ? combined(input, planner) : aggregated(input, planner);
  }

  private Transformation<ColumnBatch> combined(
      Transformation<ColumnBatch> partials, PlannerBase planner) {
    ExecNode<?> exchange = getInputEdges().get(0).getSource();
    FirstPhaseExecNode first =
        (FirstPhaseExecNode) exchange.getInputEdges().get(0).getSource();
    TwoPhasePlan plan = first.twoPhasePlan(spec.aggregates(), planner);
    TwoPhasePlan given = spec.givesUpdateBefore() ? plan : plan.withoutUpdateBefore();
    return appendKeyed(
        partials,
        "",
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
              ArgumentOperator.factory(plan, i),
              plan.argumentSchema(),
              planner.getTableConfig());
    }
    return appendKeyed(
        arguments,
        "",
        GroupAggregateOperator.factory(plan),
        plan.outputSchema(),
        planner.getTableConfig());
  }
}
