// SPDX-License-Identifier: Apache-2.0
package io.millrace.comparison;

import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.operators.transfer.HostTransfer;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.RowKind;

/** Adds the results up as {@link CountRows} does. */
final class CountBatches extends ColumnBatchOperator<Void> {
  private static final long serialVersionUID = 1L;

  private final transient Totals totals = new Totals();

  CountBatches(StreamOperatorParameters<Void> parameters) {
    super(parameters);
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    try (HostTransfer transfer = new HostTransfer(deviceContext());
        Table table = transfer.toHost(batch.table());
        AccessScope scope = AccessScope.on(deviceContext().hostStream())) {
      long counts = address(table.column(1), scope);
      long sums = address(table.column(2), scope);
      long kinds =
          RowKindColumn.isIn(table.schema())
              ? address(table.column(table.schema().indexOf(RowKindColumn.NAME)), scope)
              : 0;
      for (long row = 0; row < table.rowCount(); row++) {
        int sign = kinds == 0 || isAdded(HostMemory.getByte(kinds + row)) ? 1 : -1;
        totals.add(
            sign,
            HostMemory.getLong(counts + row * Long.BYTES),
            HostMemory.getLong(sums + row * Long.BYTES));
      }
    }
  }

  private static boolean isAdded(byte kind) {
    return kind == RowKind.INSERT.toByteValue() || kind == RowKind.UPDATE_AFTER.toByteValue();
  }

  private static long address(Column column, AccessScope scope) {
    return column.data().orElseThrow().access(AccessMode.READ, scope);
  }

  @Override
  public void finish() throws Exception {
    totals.report(getRuntimeContext());
    super.finish();
  }
}
