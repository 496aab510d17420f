// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.DownloadQueue;
import java.util.function.Function;

/** Cuts batches by bytes only, not by the rows' keys. */
final class WholeTableSplitter implements TableSplitter {
  private final DeviceContext context;
  private final ByteSlicer slicer;
  private final Function<Table, ColumnBatch> routing;

  /**
   * @param routing makes the batch of a part
   */
  WholeTableSplitter(
      DeviceContext context, long maximumBytes, Function<Table, ColumnBatch> routing) {
    this.context = context;
    this.slicer = new ByteSlicer(maximumBytes, context.hostStream());
    this.routing = routing;
  }

  @Override
  public void split(ColumnBatch batch, DownloadQueue downloads, Output output) {
    downloads.addWithEventTimes(
        batch, host -> context.retry().withHostRetry(() -> cut(host)).sendTo(output));
  }

  private TableParts cut(Table host) {
    TableParts parts = new TableParts();
    try {
      slicer.slice(
          host, 0, host.rowCount(), (part, bytes) -> parts.add(routing.apply(part), bytes));
      return parts;
    } catch (RuntimeException | Error e) {
      parts.close();
      throw e;
    }
  }
}
