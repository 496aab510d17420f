// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Column;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.functions.RuntimeContext;

/**
 * A {@link KeyedBatchFunction} in Java. On a GPU, the rows and the state of their keys are copied
 * to the host, and what the function appends is copied back.
 *
 * <pre>{@code
 * protected void process(HostKeyedBatch batch) {
 *   ColumnReader before = batch.state("bids");
 *   long[] bids = new long[batch.keyCount()];
 *   for (int key = 0; key < bids.length; key++) {
 *     bids[key] = before.isNull(key) ? 0 : before.getLong(key);
 *   }
 *   for (int row = 0; row < batch.rowCount(); row++) {
 *     bids[batch.keyOf(row)]++;
 *   }
 *   FixedWidthColumnBuilder after = (FixedWidthColumnBuilder) batch.newState().column(0);
 *   for (long count : bids) {
 *     after.appendLong(count);
 *   }
 * }
 * }</pre>
 */
@PublicEvolving
public abstract class HostKeyedFunction implements KeyedBatchFunction {
  private static final long serialVersionUID = 1L;

  // null before the function is opened.
  private transient HostTransfer transfer;
  private transient Schema output;
  private transient Schema state;

  /**
   * Processes a batch; see {@link KeyedBatchFunction#process}: it may be called again with the same
   * rows.
   *
   * @param batch valid until this returns
   */
  protected abstract void process(HostKeyedBatch batch) throws Exception;

  @Override
  public void open(DeviceContext device, RuntimeContext runtime) throws Exception {
    transfer = new HostTransfer(device);
  }

  @Override
  public final KeyedResult process(KeyedBatch batch) throws Exception {
    if (output == null) {
      output = outputSchema(batch.rows().schema());
      state = stateSchema(batch.rows().schema());
    }
    try (Table numbers = table(batch.keyNumbers());
        Table rows = transfer.toHost(batch.rows());
        Table hostNumbers = transfer.toHost(numbers);
        Table keys = transfer.toHost(batch.keys());
        Table values = transfer.toHost(batch.state());
        RowTableBuilder newRows = transfer.tableBuilder(output);
        RowTableBuilder newState = transfer.tableBuilder(state)) {
      try (AccessScope scope = AccessScope.on(batch.device().hostStream())) {
        process(
            new HostKeyedBatch(
                rows,
                hostNumbers.column(0),
                keys,
                values,
                newRows,
                newState,
                batch.watermark(),
                batch.processingTime(),
                scope));
      }
      Table uploaded = upload(newRows);
      try {
        return new KeyedResult(uploaded, upload(newState));
      } catch (RuntimeException | Error e) {
        close(uploaded);
        throw e;
      }
    }
  }

  private static Table table(Column numbers) {
    Schema schema = Schema.of(HostKeyedBatch.NUMBER);
    return Table.of(schema, numbers.size(), position -> numbers.share());
  }

  // Null if no row was appended.
  private Table upload(RowTableBuilder builder) {
    int rows = builder.schema().size() == 0 ? 0 : builder.column(0).size();
    return rows == 0 ? null : transfer.upload(builder.finish(rows));
  }

  private static void close(Table table) {
    if (table != null) {
      table.close();
    }
  }

  @Override
  public void close() throws Exception {
    if (transfer != null) {
      transfer.close();
    }
  }
}
