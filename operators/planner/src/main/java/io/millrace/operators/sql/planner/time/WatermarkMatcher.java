// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.time;

import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.operators.sql.planner.calc.CalcSpec;
import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import io.millrace.operators.transform.CalcPlan;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.calcite.WatermarkUtils;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalWatermarkAssigner;
import org.apache.flink.table.types.logical.RowType;

/** Decides about a WatermarkAssigner: it has to be given batches. */
@Internal
public final class WatermarkMatcher
    extends NodeMatcher<StreamPhysicalWatermarkAssigner, WatermarkSpec> {
  public WatermarkMatcher() {
    super(StreamPhysicalWatermarkAssigner.class, WatermarkRel.KIND);
  }

  @Override
  protected WatermarkSpec match(StreamPhysicalWatermarkAssigner assigner, PlanContext context) {
    RelNode input = assigner.getInput();
    MillraceRel.requireBatches(input);
    RexBuilder rexBuilder = assigner.getCluster().getRexBuilder();
    RexNode watermark = WatermarkUtils.simplify(assigner.getCluster(), assigner.watermarkExpr());
    RexNode eventTime = rexBuilder.makeInputRef(input, assigner.rowtimeFieldIndex());
    CalcSpec times =
        new CalcSpec(
            List.of(watermark, eventTime),
            Optional.empty(),
            RowType.of(
                FlinkTypeFactory.toLogicalType(watermark.getType()).copy(true),
                FlinkTypeFactory.toLogicalType(eventTime.getType()).copy(true)),
            rexBuilder);
    times.checkCasts(context);
    CalcPlan plan =
        times.plan(PlannedInput.columns(input, times.expressions()), context.expressionSettings());
    checkTypes(plan.outputSchema());
    return new WatermarkSpec(
        times.evaluatedAs(plan.calc()), FlinkTypeFactory.toLogicalRowType(assigner.getRowType()));
  }

  private static void checkTypes(Schema times) {
    for (int i = 0; i < 2; i++) {
      if (times.type(i).id() != TypeId.TIMESTAMP_MILLIS) {
        throw new UnsupportedNodeException("its watermarks are " + times.type(i));
      }
    }
  }

  @Override
  protected RelNode decided(
      StreamPhysicalWatermarkAssigner assigner, Decision<WatermarkSpec> decision) {
    return new WatermarkRel(
        assigner.getCluster(),
        assigner.getTraitSet(),
        assigner.getInput(),
        assigner.getHints(),
        assigner.rowtimeFieldIndex(),
        assigner.watermarkExpr(),
        decision);
  }
}
