// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.source;

import io.millrace.operators.sql.planner.node.NodeSpec;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import io.millrace.operators.sql.table.BatchScanTableSource;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.schema.TableSourceTable;
import org.apache.flink.table.types.logical.RowType;

/**
 * A scan.
 *
 * @param source to which everything has been pushed down
 * @param output the type of the rows of its batches
 */
@Internal
public record ScanSpec(BatchScanTableSource source, RowType output) implements NodeSpec {
  /**
   * The scan of a table.
   *
   * @throws UnsupportedNodeException if its source does not give batches
   */
  static ScanSpec of(TableSourceTable table) {
    if (!(table.tableSource() instanceof BatchScanTableSource source)) {
      throw new UnsupportedNodeException("its source gives rows");
    }
    RowType output = FlinkTypeFactory.toLogicalRowType(table.getRowType());
    PlannedInput.schema(output);
    return new ScanSpec(source, output);
  }
}
