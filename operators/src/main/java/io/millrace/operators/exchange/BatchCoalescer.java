// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.column.Table;
import io.millrace.column.TableConcatenation;
import io.millrace.memory.retry.Splittable;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

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

  /** Adds a batch in host memory. The caller keeps its reference to the batch. */
  void add(ColumnBatch batch) {
    Table table = batch.tableWithEventTimes().share();
    pending.add(table);
    rows = Math.addExact(rows, table.rowCount());
    bytes += table.sizeInBytes();
  }

  boolean isEmpty() {
    return pending.isEmpty();
  }

  /** Rows added since the last flush. */
  int rows() {
    return rows;
  }

  /**
   * Whether the added batches must be flushed before {@code batch} is added: because a column holds
   * at most 2 GiB, or because only some of the batches have the event times of their rows.
   */
  boolean needsFlushBefore(ColumnBatch batch) {
    Table table = batch.tableWithEventTimes();
    return !pending.isEmpty()
        && (bytes + table.sizeInBytes() > Integer.MAX_VALUE
            || table.columnCount() != pending.get(0).columnCount());
  }

  /** Whether the added batches reach the limit of rows or of bytes. */
  boolean isFull() {
    return rows >= options.rows() || bytes >= options.bytes();
  }

  /**
   * Passes all rows added since the last flush to {@code consumer} as one device table, or as
   * several if one does not fit.
   *
   * @param consumer takes ownership of each table
   */
  void flush(Consumer<Table> consumer) {
    if (pending.isEmpty()) {
      return;
    }
    try (HostTables tables = new HostTables(List.copyOf(pending), false)) {
      reset();
      context.retry().withSplitAndRetry(tables, this::join, consumer);
    }
  }

  private Table join(HostTables tables) {
    return transfer.upload(
        tables.isOneAsItCame()
            ? tables.tables.get(0).share()
            : TableConcatenation.concatenate(
                tables.tables.get(0).schema(),
                tables.tables,
                context.hostStream(),
                context.pinnedResource()));
  }

  /**
   * Consecutive tables. Owns the tables.
   *
   * @param sliced whether the tables use only a part of their memory
   */
  private record HostTables(List<Table> tables, boolean sliced) implements Splittable<HostTables> {
    boolean isOneAsItCame() {
      return tables.size() == 1 && !sliced;
    }

    @Override
    public List<HostTables> halves() {
      if (tables.size() == 1) {
        return tables.get(0).halves().stream()
            .map(half -> new HostTables(List.of(half), true))
            .toList();
      }
      int half = tables.size() / 2;
      return List.of(shareOf(0, half), shareOf(half, tables.size()));
    }

    private HostTables shareOf(int from, int to) {
      return new HostTables(tables.subList(from, to).stream().map(Table::share).toList(), sliced);
    }

    @Override
    public void close() {
      tables.forEach(Table::close);
    }
  }

  private void reset() {
    pending.clear();
    rows = 0;
    bytes = 0;
  }

  /** Releases the batches that were not flushed. */
  @Override
  public void close() {
    pending.forEach(Table::close);
    reset();
    transfer.close();
  }
}
