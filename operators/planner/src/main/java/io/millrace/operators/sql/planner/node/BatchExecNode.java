// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.transfer.WatermarkMode;
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

  /**
   * As {@link #translateToBatches(PlannerBase)}, for a consumer whose results do not depend on
   * watermarks. Each call with the same mode gives the same operators.
   *
   * @param watermarks the effect that a watermark may have on rows that the node's operators have
   *     not sent yet
   */
  default Transformation<ColumnBatch> translateToBatches(
      PlannerBase planner, WatermarkMode watermarks) {
    return translateToBatches(planner);
  }
}
