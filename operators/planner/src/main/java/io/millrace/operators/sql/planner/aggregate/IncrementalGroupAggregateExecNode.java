// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.LocalGroupAggregateOperator;
import io.millrace.operators.aggregate.TwoPhasePlan;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.TransformOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** The second phase of aggregates, and the first phase of aggregates of their results. */
final class IncrementalGroupAggregateExecNode extends GroupAggregateExecNode
    implements FirstPhaseExecNode {
  private static final String STEP = "local";

  private final LocalGroupAggregateSpec last;
  private transient Schema partials;

  IncrementalGroupAggregateExecNode(
      IncrementalGroupAggregateSpec spec, NodeInput input, String description) {
    super(
        IncrementalGroupAggregateRel.KIND,
        spec.partial(),
        spec.last().output(),
        input,
        description);
    this.last = spec.last();
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    Transformation<ColumnBatch> changes = super.toBatches(planner);
    partials = ColumnBatchTypeInformation.schemaOf(changes.getOutputType());
    return last.combines() ? combined(changes, planner) : keysFirst(changes, planner);
  }

  private Transformation<ColumnBatch> combined(
      Transformation<ColumnBatch> changes, PlannerBase planner) {
    TwoPhasePlan plan = twoPhasePlan(last.aggregates(), planner);
    return append(
        changes,
        STEP,
        LocalGroupAggregateOperator.factory(plan),
        new ColumnBatchTypeInformation(plan.partials()),
        planner.getTableConfig());
  }

  private Transformation<ColumnBatch> keysFirst(
      Transformation<ColumnBatch> changes, PlannerBase planner) {
    CalcPlan plan = last.aggregates().selectKeysFirst(partials, settings(planner));
    return append(
        changes,
        STEP,
        TransformOperator.factory(plan.transforms()),
        new ColumnBatchTypeInformation(plan.outputSchema()),
        planner.getTableConfig());
  }

  @Override
  public TwoPhasePlan twoPhasePlan(KeyedAggregates aggregates, PlannerBase planner) {
    return aggregates.twoPhasePlan(partials, settings(planner)).orElseThrow();
  }

  private static ExpressionSettings settings(PlannerBase planner) {
    return new PlanContext(planner.getTableConfig()).expressionSettings();
  }
}
