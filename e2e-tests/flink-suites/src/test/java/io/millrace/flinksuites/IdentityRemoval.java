// SPDX-License-Identifier: Apache-2.0
package io.millrace.flinksuites;

import java.lang.reflect.Field;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Calc;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexProgram;
import org.apache.calcite.rex.RexShuttle;
import org.apache.flink.table.planner.calcite.CalciteConfig;
import org.apache.flink.table.planner.calcite.CalciteConfig$;
import org.apache.flink.table.planner.functions.bridging.BridgingSqlFunction;
import org.apache.flink.table.planner.plan.optimize.program.FlinkChainedProgram;
import org.apache.flink.table.planner.plan.optimize.program.FlinkStreamProgram;
import org.apache.flink.table.planner.plan.optimize.program.StreamOptimizeContext;

/**
 * Removes the function by which Flink's tests of functions keep the planner from evaluating
 * constants. It is Java code, so the Calcs of these tests would be Flink's. Runs behind Flink's
 * optimization, so that constants are evaluated by operators as before.
 */
final class IdentityRemoval extends FlinkChainedProgram<StreamOptimizeContext> {
  private static boolean isInstalled;

  /** Installs it in front of what is installed later, once. */
  static synchronized void install() throws ReflectiveOperationException {
    if (isInstalled) {
      return;
    }
    isInstalled = true;
    CalciteConfig config =
        CalciteConfig$.MODULE$
            .createBuilder(CalciteConfig$.MODULE$.DEFAULT())
            .replaceStreamProgram(new IdentityRemoval())
            .build();
    Field field = CalciteConfig$.class.getDeclaredField("DEFAULT");
    field.setAccessible(true);
    field.set(CalciteConfig$.MODULE$, config);
  }

  @Override
  public RelNode optimize(RelNode root, StreamOptimizeContext context) {
    return remove(
        FlinkStreamProgram.buildProgram(context.getTableConfig()).optimize(root, context));
  }

  private static RelNode remove(RelNode node) {
    List<RelNode> inputs = node.getInputs().stream().map(IdentityRemoval::remove).toList();
    if (node instanceof Calc calc) {
      return calc.copy(calc.getTraitSet(), inputs.get(0), remove(calc));
    }
    return inputs.equals(node.getInputs()) ? node : node.copy(node.getTraitSet(), inputs);
  }

  private static RexProgram remove(Calc calc) {
    RexProgram program = calc.getProgram();
    Remover remover = new Remover();
    return RexProgram.create(
        program.getInputRowType(),
        program.getProjectList().stream().map(program::expandLocalRef).map(remover::apply).toList(),
        program.getCondition() == null
            ? null
            : remover.apply(program.expandLocalRef(program.getCondition())),
        program.getOutputRowType(),
        calc.getCluster().getRexBuilder());
  }

  private static final class Remover extends RexShuttle {
    @Override
    public RexNode visitCall(RexCall call) {
      RexNode visited = super.visitCall(call);
      return visited instanceof RexCall rest && isIdentity(rest)
          ? rest.getOperands().get(0)
          : visited;
    }

    private static boolean isIdentity(RexCall call) {
      return call.getOperator() instanceof BridgingSqlFunction function
          && function.getDefinition().getClass().getSimpleName().equals("IdentityFunction");
    }
  }
}
