package io.millrace.operators.exchange;

import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.DeviceContext;
import io.millrace.operators.batch.HostTransfer;
import java.util.function.Function;

/** Sends all rows one way, cut only by bytes. */
final class WholeTableSplitter implements TableSplitter {
  private final HostTransfer transfer;
  private final ByteSlicer slicer;
  private final Function<Table, ColumnBatch> routing;

  /**
   * @param routing makes the batch of a part
   */
  WholeTableSplitter(
      DeviceContext context, long maximumBytes, Function<Table, ColumnBatch> routing) {
    this.transfer = new HostTransfer(context);
    this.slicer = new ByteSlicer(maximumBytes, context.hostStream());
    this.routing = routing;
  }

  @Override
  public void split(Table table, Output output) {
    try (Table host = transfer.toHost(table)) {
      slicer.slice(
          host, 0, host.rowCount(), (part, bytes) -> output.accept(routing.apply(part), bytes));
    }
  }
}
