// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.plan.nodes.exec.InputProperty;
import org.apache.flink.table.planner.plan.nodes.exec.InputProperty.RequiredDistribution;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalIntermediateTableScan;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalRank;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalRel;
import org.apache.flink.table.planner.plan.utils.ChangelogPlanUtils;
import org.apache.flink.table.planner.plan.utils.RankUtil;

/**
 * An input of a node.
 *
 * @param property what the node needs of the input
 * @param insertOnly whether all rows of the input are insertions
 */
@Internal
public record NodeInput(InputProperty property, boolean insertOnly) {
  /** An input whose rows may be on any subtask. */
  public static NodeInput of(RelNode input) {
    return new NodeInput(InputProperty.DEFAULT, isInsertOnly(input));
  }

  /** An input whose rows have to be distributed. */
  public static NodeInput of(RelNode input, RequiredDistribution distribution) {
    return new NodeInput(
        InputProperty.builder().requiredDistribution(distribution).build(), isInsertOnly(input));
  }

  /** Whether all rows of {@code input} are insertions. */
  public static boolean isInsertOnly(RelNode input) {
    return ChangelogPlanUtils.isInsertOnly((StreamPhysicalRel) input) && !hidesUpdates(input);
  }

  // Flink 2.3 takes each ranking whose first row is kept for a de-duplication, and one in ascending
  // order for insert-only. But it de-duplicates by time attributes alone; by other columns
  // it ranks, and a smaller value updates the first row.
  private static boolean hidesUpdates(RelNode node) {
    if (node instanceof StreamPhysicalIntermediateTableScan scan) {
      return hidesUpdates(scan.intermediateTable().relNode());
    }
    return (node instanceof StreamPhysicalRank rank
            && RankUtil.isDeduplication(rank)
            && !RankUtil.canConvertToDeduplicate(rank))
        || node.getInputs().stream().anyMatch(NodeInput::hidesUpdates);
  }
}
