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
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;

/** A batch of rows of literals, which Flink's node gives. */
final class ValuesExecNode extends MillraceExecNode {
  private final ValuesSpec spec;
  private final ExecNode<?> rows;

  ValuesExecNode(ValuesSpec spec, ExecNode<?> rows, String description) {
    super(ValuesRel.KIND, List.of(), spec.output(), description);
    this.spec = spec;
    this.rows = rows;
  }

  @Override
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    @SuppressWarnings("unchecked") // Flink's node gives rows
    Transformation<RowData> values = (Transformation<RowData>) rows.translateToPlan(planner);
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
}
