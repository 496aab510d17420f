// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.time;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.runtime.MiniBatchOperator;
import java.time.Duration;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.trait.MiniBatchMode;

/** The watermarks that end mini-batches. */
final class MiniBatchExecNode extends MillraceExecNode {
  private final MiniBatchSpec spec;

  MiniBatchExecNode(MiniBatchSpec spec, NodeInput input, String description) {
    super(MiniBatchRel.KIND, List.of(input), spec.output(), description);
    this.spec = spec;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    Transformation<ColumnBatch> input = inputBatches(0, planner);
    return append(input, "", operators(), input.getOutputType(), planner.getTableConfig());
  }

  private OperatorFactory<ColumnBatch, ColumnBatch> operators() {
    Duration interval = Duration.ofMillis(spec.interval().getInterval());
    return spec.interval().getMode() == MiniBatchMode.ProcTime
        ? MiniBatchOperator.inProcessingTime(interval)
        : MiniBatchOperator.inEventTime(interval);
  }
}
