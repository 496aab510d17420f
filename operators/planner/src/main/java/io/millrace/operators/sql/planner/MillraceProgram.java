// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner;

import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.table.SqlMode;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.table.planner.plan.optimize.program.FlinkChainedProgram;
import org.apache.flink.table.planner.plan.optimize.program.FlinkStreamProgram;
import org.apache.flink.table.planner.plan.optimize.program.StreamOptimizeContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/**
 * Flink's optimization of a query, made for its options, and behind it the replacement of nodes. If
 * the replacement fails, the plan is Flink's.
 */
final class MillraceProgram extends FlinkChainedProgram<StreamOptimizeContext> {
  private static final Logger LOG = LoggerFactory.getLogger(MillraceProgram.class);

  private final Option<FlinkChainedProgram<StreamOptimizeContext>> before;

  /**
   * @param before the program that runs first, if it is not Flink's own
   */
  MillraceProgram(Option<FlinkChainedProgram<StreamOptimizeContext>> before) {
    this.before = before;
  }

  @Override
  public RelNode optimize(RelNode root, StreamOptimizeContext context) {
    RelNode optimized = first(context).optimize(root, context);
    PlanContext plan = new PlanContext(context.getTableConfig());
    if (plan.mode() == SqlMode.OFF) {
      return optimized;
    }
    plan.checkDisabledNodes(NodeKinds.replaced().keySet());
    return replaced(optimized, plan);
  }

  private FlinkChainedProgram<StreamOptimizeContext> first(StreamOptimizeContext context) {
    return before.isDefined()
        ? before.get()
        : FlinkStreamProgram.buildProgram(context.getTableConfig());
  }

  private static RelNode replaced(RelNode optimized, PlanContext plan) {
    try {
      RelNode replaced = new NodeReplacement(plan).replace(optimized);
      SubstitutionReport.count(replaced);
      if (plan.mode() == SqlMode.EXPLAIN) {
        LOG.info("The nodes of a plan: {}", String.join("; ", SubstitutionReport.lines(replaced)));
      }
      return replaced;
    } catch (RuntimeException | LinkageError e) {
      LOG.warn("Flink's operators run the query, whose nodes could not be replaced", e);
      return optimized;
    }
  }
}
