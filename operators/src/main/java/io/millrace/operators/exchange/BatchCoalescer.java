package io.millrace.operators.exchange;

import io.millrace.column.Table;
import io.millrace.column.TableConcatenation;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.DeviceContext;
import io.millrace.operators.batch.HostTransfer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Joins small host batches into larger ones on the device, in order. Used by one thread. */
final class BatchCoalescer implements AutoCloseable {
  private final CoalesceOptions options;
  private final DeviceContext context;
  private final HostTransfer transfer;
  private final List<Table> pending = new ArrayList<>();
  private int rows;
  private long bytes;

  BatchCoalescer(CoalesceOptions options, DeviceContext context) {
    this.options = options;
    this.context = context;
    this.transfer = new HostTransfer(context);
  }

  /** Adds a batch in host memory, which stays the caller's. */
  void add(ColumnBatch batch) {
    Table table = batch.table().share();
    pending.add(table);
    rows = Math.addExact(rows, table.rowCount());
    bytes += table.sizeInBytes();
  }

  boolean isEmpty() {
    return pending.isEmpty();
  }

  /** Whether what was added reaches the limit of rows or of bytes. */
  boolean isFull() {
    return rows >= options.rows() || bytes >= options.bytes();
  }

  /** All rows added since the last flush as one device batch, which the caller owns. */
  Optional<ColumnBatch> flush() {
    if (pending.isEmpty()) {
      return Optional.empty();
    }
    Table joined = pending.size() == 1 ? pending.get(0).share() : join();
    clear();
    return Optional.of(new ColumnBatch(transfer.toDevice(joined)));
  }

  private Table join() {
    return TableConcatenation.concatenate(
        pending.get(0).schema(), pending, context.hostStream(), context.pinnedResource());
  }

  private void clear() {
    pending.forEach(Table::close);
    pending.clear();
    rows = 0;
    bytes = 0;
  }

  /** Drops what was added and not flushed. */
  @Override
  public void close() {
    clear();
    transfer.close();
  }
}
