package io.millrace.operators.exchange;

import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.DeviceContext;
import io.millrace.operators.batch.HostTransfer;
import java.util.function.Function;

/** Sends all rows one way, cut only by bytes. */
final class WholeTableSplitter implements TableSplitter {
  private final DeviceContext context;
  private final HostTransfer transfer;
  private final ByteSlicer slicer;
  private final Function<Table, ColumnBatch> routing;

  /**
   * @param routing makes the batch of a part
   */
  WholeTableSplitter(
      DeviceContext context, long maximumBytes, Function<Table, ColumnBatch> routing) {
    this.context = context;
    this.transfer = new HostTransfer(context);
    this.slicer = new ByteSlicer(maximumBytes, context.hostStream());
    this.routing = routing;
  }

  @Override
  public void split(Table table, Output output) {
    context.retry().withSplitAndRetry(table, this::cut, parts -> parts.sendTo(output));
  }

  private TableParts cut(Table table) {
    TableParts parts = new TableParts();
    try (Table host = transfer.toHost(table)) {
      slicer.slice(
          host, 0, host.rowCount(), (part, bytes) -> parts.add(routing.apply(part), bytes));
      return parts;
    } catch (RuntimeException | Error e) {
      parts.close();
      throw e;
    }
  }
}
