// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.deduplicate;

import io.millrace.operators.deduplicate.Deduplication.Keep;
import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import java.util.List;
import java.util.OptionalInt;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalRank;
import org.apache.flink.table.planner.plan.utils.ChangelogPlanUtils;
import org.apache.flink.table.planner.plan.utils.RankUtil;

/**
 * Decides about a Rank: it has to be a de-duplication, which Flink executes by another node than
 * rankings.
 */
@Internal
public final class DeduplicateMatcher extends NodeMatcher<StreamPhysicalRank, DeduplicateSpec> {
  public DeduplicateMatcher() {
    super(StreamPhysicalRank.class, DeduplicateRel.KIND);
  }

  @Override
  protected DeduplicateSpec match(StreamPhysicalRank rank, PlanContext context) {
    if (!RankUtil.canConvertToDeduplicate(rank)) {
      throw new UnsupportedNodeException(
          "it is not a de-duplication of insertions by a time attribute");
    }
    if (rank.partitionKey().isEmpty()) {
      throw new UnsupportedNodeException("it has no keys");
    }
    Keep keep = RankUtil.keepLastDeduplicateRow(rank.orderKey()) ? Keep.LAST : Keep.FIRST;
    OptionalInt timeField =
        rank.sortOnRowTime()
            ? OptionalInt.of(rank.orderKey().getFieldCollations().get(0).getFieldIndex())
            : OptionalInt.empty();
    checkChanges(rank, keep, timeField);
    DeduplicateSpec spec =
        new DeduplicateSpec(
            rank.partitionKey().asList(),
            keep,
            timeField,
            context.stateTtl(),
            FlinkTypeFactory.toLogicalRowType(rank.getRowType()),
            List.of());
    return spec.checked(
        PlannedInput.keyedSchema(rank.getInput(), rank.partitionKey().asList()),
        context.expressionSettings());
  }

  /**
   * Checks that consumers can do without what Millrace's de-duplication does not give: the rows
   * before updates, and a first row that no row updates although later rows may have smaller event
   * times.
   */
  private static void checkChanges(StreamPhysicalRank rank, Keep keep, OptionalInt timeField) {
    boolean updates = keep == Keep.LAST || timeField.isPresent();
    if (updates && ChangelogPlanUtils.isInsertOnly(rank)) {
      throw new UnsupportedNodeException("a first row by event time waits for watermarks");
    }
    if (updates && ChangelogPlanUtils.generateUpdateBefore(rank)) {
      throw new UnsupportedNodeException("a consumer needs the rows before updates");
    }
  }

  @Override
  protected RelNode decided(StreamPhysicalRank rank, Decision<DeduplicateSpec> decision) {
    return new DeduplicateRel(rank, rank.getTraitSet(), rank.getInput(), decision);
  }
}
