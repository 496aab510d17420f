// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.column.Schema;
import io.millrace.operators.aggregate.LocalGroupAggregateOperator;
import io.millrace.operators.aggregate.TwoPhasePlan;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** The first phase of aggregates, in front of the exchange, which combines rows of a key. */
final class LocalGroupAggregateExecNode extends MillraceExecNode implements FirstPhaseExecNode {
  private final LocalGroupAggregateSpec spec;

  LocalGroupAggregateExecNode(LocalGroupAggregateSpec spec, NodeInput input, String description) {
    super(LocalGroupAggregateRel.KIND, List.of(input), spec.output(), description);
    this.spec = spec;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    TwoPhasePlan plan = twoPhasePlan(spec.aggregates(), planner);
    return append(
        inputBatches(0, planner),
        "",
        LocalGroupAggregateOperator.factory(plan),
        new ColumnBatchTypeInformation(plan.partials()),
        planner.getTableConfig());
  }

  @Override
  public TwoPhasePlan twoPhasePlan(KeyedAggregates aggregates, PlannerBase planner) {
    Schema input = ColumnBatchTypeInformation.schemaOf(inputBatches(0, planner).getOutputType());
    PlanContext context = new PlanContext(planner.getTableConfig());
    return aggregates.twoPhasePlan(input, context.expressionSettings()).orElseThrow();
  }
}
