// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.values;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchingOperator;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.calcite.rex.RexLiteral;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.calcite.shaded.com.google.common.collect.ImmutableList;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeContext;
import org.apache.flink.table.planner.plan.nodes.exec.stream.StreamExecValues;

/** A batch of rows of literals, which Flink's node gives. */
final class ValuesExecNode extends MillraceExecNode {
  private final ValuesSpec spec;
  private final ImmutableList<ImmutableList<RexLiteral>> rows;

  ValuesExecNode(
      ValuesSpec spec, ImmutableList<ImmutableList<RexLiteral>> rows, String description) {
    super(ValuesRel.KIND, List.of(), spec.output(), description);
    this.spec = spec;
    this.rows = rows;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    @SuppressWarnings("unchecked") // Flink's node gives rows
    Transformation<RowData> values =
        (Transformation<RowData>) flinksNode(planner.getTableConfig()).translateToPlan(planner);
    TableConfig config = planner.getTableConfig();
    Schema schema = SchemaConverter.toSchema(spec.output());
    return append(
        values,
        "",
        BatchingOperator.factory(
            schema, RowDataAppender.factory(), new PlanContext(config).batchOptions()),
        new ColumnBatchTypeInformation(schema),
        config);
  }

  // Has this node's number: the numbers of the nodes behind are those of a plan of Flink's nodes.
  private ExecNode<?> flinksNode(TableConfig config) {
    return new StreamExecValues(
        getId(),
        ExecNodeContext.newContext(StreamExecValues.class),
        ExecNodeContext.newPersistedConfig(StreamExecValues.class, config),
        List.<List<RexLiteral>>copyOf(rows),
        spec.output(),
        getDescription());
  }
}
