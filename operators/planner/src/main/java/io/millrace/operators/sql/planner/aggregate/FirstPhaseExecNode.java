// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.operators.aggregate.TwoPhasePlan;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** A node in front of an exchange whose batches may have combined rows of each key. */
interface FirstPhaseExecNode {
  /**
   * The plan of both phases. Called when the node has been translated to batches.
   *
   * @param aggregates those of this node, with the names of the second phase
   */
  TwoPhasePlan twoPhasePlan(KeyedAggregates aggregates, PlannerBase planner);
}
