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

/** Aggregates by key, whose state is on the device: in one phase, or as the second of two. */
final class GroupAggregateExecNode extends MillraceExecNode {
  private final GroupAggregateSpec spec;

  GroupAggregateExecNode(
      String kind, GroupAggregateSpec spec, NodeInput input, String description) {
    super(kind, List.of(input), spec.output(), description);
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
    LocalGroupAggregateExecNode local =
        (LocalGroupAggregateExecNode) exchange.getInputEdges().get(0).getSource();
    TwoPhasePlan plan = local.twoPhasePlan(spec.aggregates(), planner);
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
