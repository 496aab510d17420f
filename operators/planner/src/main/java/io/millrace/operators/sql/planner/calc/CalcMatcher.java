// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.calc;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.PlanConstants;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import io.millrace.operators.transfer.WatermarkMode;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexProgram;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalCalc;

/** Decides about a Calc: each of its expressions has to be supported. */
@Internal
public final class CalcMatcher extends NodeMatcher<StreamPhysicalCalc, CalcSpec> {
  public CalcMatcher() {
    super(StreamPhysicalCalc.class, CalcRel.KIND);
  }

  @Override
  protected CalcSpec match(StreamPhysicalCalc calc, PlanContext context) {
    RexProgram program = calc.getProgram();
    if (program.getProjectList().isEmpty()) {
      throw new UnsupportedNodeException("it has no columns");
    }
    RexBuilder rexBuilder = calc.getCluster().getRexBuilder();
    PlanConstants constants = new PlanConstants(rexBuilder, context.database());
    CalcSpec spec =
        new CalcSpec(
            program.getProjectList().stream()
                .map(node -> constants.apply(program.expandLocalRef(node)))
                .toList(),
            Optional.ofNullable(program.getCondition())
                .map(node -> constants.apply(program.expandLocalRef(node))),
            FlinkTypeFactory.toLogicalRowType(calc.getRowType()),
            rexBuilder);
    spec.checkCasts(context);
    if (spec.readsWatermark()
        && MillraceRel.givesBatches(calc.getInput())
        && context.batchOptions().watermarks() != WatermarkMode.FLUSH) {
      throw new UnsupportedNodeException("CURRENT_WATERMARK of batches that hold watermarks back");
    }
    return spec.evaluatedAs(
        spec.plan(
                PlannedInput.columns(calc.getInput(), spec.expressions()),
                context.expressionSettings())
            .calc());
  }

  @Override
  protected RelNode decided(StreamPhysicalCalc calc, Decision<CalcSpec> decision) {
    return new CalcRel(
        calc.getCluster(),
        calc.getTraitSet(),
        calc.getInput(),
        calc.getProgram(),
        calc.getRowType(),
        decision);
  }
}
