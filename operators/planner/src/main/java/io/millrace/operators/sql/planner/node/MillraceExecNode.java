// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.UnbatchingOperator;
import io.millrace.operators.row.RowDataDecoder;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import java.util.Optional;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeConfig;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;

/**
 * The base of the nodes whose operators take and give batches. A subclass says what its operators
 * are, in {@link #toBatches}; this class makes rows of its batches where a node of Flink's consumes
 * them.
 *
 * <p>Compiled plans do not have these nodes: Flink's nodes are compiled, and EXPLAIN and execution
 * alone have Millrace's.
 */
@Internal
public abstract class MillraceExecNode extends BatchInputExecNode<RowData>
    implements BatchExecNode {
  private transient Transformation<ColumnBatch> batches;

  /**
   * @param kind Flink's name of such nodes, such as "Calc"
   * @param description what EXPLAIN says of the node
   */
  protected MillraceExecNode(
      String kind, List<NodeInput> inputs, RowType output, String description) {
    super(kind, inputs, output, description);
  }

  /** Adds the node's operators to the job; called once. */
  protected abstract Transformation<ColumnBatch> toBatches(PlannerBase planner);

  @Override
  public final Transformation<ColumnBatch> translateToBatches(PlannerBase planner) {
    if (batches == null) {
      batches = toBatches(planner);
    }
    return batches;
  }

  @Override
  protected final Transformation<RowData> translateToPlanInternal(
      PlannerBase planner, ExecNodeConfig config) {
    Transformation<ColumnBatch> output = translateToBatches(planner);
    return append(
        output,
        "rows",
        UnbatchingOperator.factory(
            ColumnBatchTypeInformation.schemaOf(output.getOutputType()),
            reusesRows() || !planner.getTableConfig().get(PipelineOptions.OBJECT_REUSE)
                ? RowDataDecoder.factory()
                : RowDataDecoder.copyingFactory(),
            Optional.empty()),
        InternalTypeInfo.of(outputType()),
        planner.getTableConfig());
  }

  /**
   * Whether Flink's operators of this kind, too, give the same object for all rows if objects are
   * reused. Consumers may keep the rows of others, such as those that come from an exchange.
   */
  protected boolean reusesRows() {
    return false;
  }

  /** The type of the node's rows. */
  protected final RowType outputType() {
    return (RowType) getOutputType();
  }
}
