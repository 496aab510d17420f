// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexProgram;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.exec.common.CommonExecCalc;
import org.apache.flink.table.planner.plan.nodes.exec.stream.StreamExecCalc;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalCalc;

/**
 * Columns of what a node of Millrace's gives. Where Flink lets several nodes share a scan, it puts
 * a Calc in front of each of them that chooses columns, after nodes have been replaced; the batches
 * pass such a Calc by.
 *
 * @param source what the Calc is behind
 * @param columns the positions of the chosen columns
 */
record ChosenColumns(BatchExecNode source, List<Integer> columns) {
  /** What {@code node} chooses; empty if it is another node, or behind a node of Flink's. */
  static Optional<ChosenColumns> of(ExecNode<?> node) {
    if (!(node instanceof StreamExecCalc)
        || !(node.getInputEdges().get(0).getSource() instanceof BatchExecNode source)) {
      return Optional.empty();
    }
    PlannerField fields = new PlannerField(CommonExecCalc.class, node);
    List<?> projection = fields.get("projection", List.class);
    return isChoice(projection, fields.get("condition", RexNode.class))
        ? Optional.of(new ChosenColumns(source, positions(projection)))
        : Optional.empty();
  }

  /** Whether a node of the physical plan becomes such a Calc, if its input gives batches. */
  static boolean isChoice(RelNode node) {
    if (node.getClass() != StreamPhysicalCalc.class) {
      return false;
    }
    RexProgram program = ((StreamPhysicalCalc) node).getProgram();
    List<RexNode> projection =
        program.getProjectList().stream().map(program::expandLocalRef).toList();
    return isChoice(projection, program.getCondition());
  }

  private static boolean isChoice(List<?> projection, RexNode condition) {
    return condition == null
        && projection.stream().allMatch(RexInputRef.class::isInstance)
        && new HashSet<>(positions(projection)).size() == projection.size();
  }

  private static List<Integer> positions(List<?> projection) {
    return projection.stream().map(column -> ((RexInputRef) column).getIndex()).toList();
  }
}
