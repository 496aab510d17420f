// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import io.millrace.operators.batch.ColumnBatch;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** A node whose consumers can take batches. */
@Internal
public interface BatchExecNode {
  /**
   * The node's output as batches, whose columns are the fields of its row type by position and may
   * have a row-kind column behind. Each call gives the same operators.
   */
  Transformation<ColumnBatch> translateToBatches(PlannerBase planner);
}
