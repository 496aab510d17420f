// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner;

import java.lang.reflect.Field;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.CalciteConfig;
import org.apache.flink.table.planner.calcite.CalciteConfig$;
import org.apache.flink.table.planner.plan.optimize.program.FlinkChainedProgram;
import org.apache.flink.table.planner.plan.optimize.program.StreamOptimizeContext;
import scala.Option;

/**
 * Makes {@link MillraceProgram} the program by which Flink's planner optimizes streaming queries
 * that have no program of their own. The SQL gateway makes a table configuration per statement, so
 * no configuration could carry it.
 */
@Internal
public final class PlannerInstallation {
  private PlannerInstallation() {}

  /**
   * Installs the program in the planner of this class's loader; a program that another library
   * installed before runs first.
   *
   * @throws ReflectiveOperationException if the planner keeps its default elsewhere
   */
  public static void install() throws ReflectiveOperationException {
    CalciteConfig before = CalciteConfig$.MODULE$.DEFAULT();
    Option<FlinkChainedProgram<StreamOptimizeContext>> program = before.getStreamProgram();
    CalciteConfig after =
        CalciteConfig$.MODULE$
            .createBuilder(before)
            .replaceStreamProgram(new MillraceProgram(program))
            .build();
    Field field = CalciteConfig$.class.getDeclaredField("DEFAULT");
    field.setAccessible(true);
    field.set(CalciteConfig$.MODULE$, after);
  }
}
