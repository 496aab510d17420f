// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.source;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.sql.planner.node.MillraceExecNode;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** A source of batches. */
final class ScanExecNode extends MillraceExecNode {
  private final ScanSpec spec;

  ScanExecNode(ScanSpec spec, String description) {
    super(ScanRel.KIND, List.of(), spec.output(), description);
    this.spec = spec;
  }

  @Override
  @SuppressWarnings("deprecation") // the planner's own scans have no other way to the environment
  protected Transformation<ColumnBatch> toBatches(PlannerBase planner) {
    Transformation<ColumnBatch> batches =
        spec.source()
            .produceBatches(providerContext(planner.getTableConfig()), planner.getExecEnv());
    checkTypes(ColumnBatchTypeInformation.schemaOf(batches.getOutputType()));
    return batches;
  }

  private void checkTypes(Schema schema) {
    List<?> types = RowKindColumn.rowFields(schema).stream().map(field -> field.type()).toList();
    Schema expected = PlannedInput.schema(spec.output());
    if (!types.equals(expected.fields().stream().map(field -> field.type()).toList())) {
      throw new TableException(
          "expected batches of "
              + expected
              + " from the source '"
              + spec.source().asSummaryString()
              + "', got "
              + schema);
    }
  }
}
