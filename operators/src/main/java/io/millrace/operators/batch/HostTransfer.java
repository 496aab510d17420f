package io.millrace.operators.batch;

import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceKind;
import org.apache.flink.annotation.Internal;

/**
 * Moves tables between an operator's device and pinned host memory; where the host is the device,
 * nothing is copied. Used by one thread.
 */
@Internal
public final class HostTransfer implements AutoCloseable {
  private final DeviceContext context;
  private Table uploading;

  public HostTransfer(DeviceContext context) {
    this.context = context;
  }

  /** A builder of tables in the host memory that {@link #toDevice} copies from fastest. */
  public RowTableBuilder tableBuilder(Schema schema) {
    return isHost()
        ? new RowTableBuilder(schema, context.stream(), context.resource())
        : new RowTableBuilder(schema, context.hostStream(), context.pinnedResource());
  }

  /**
   * {@code table}, which stays the caller's, in host memory. The copy is enqueued; readers of the
   * result wait for it. The caller closes the result.
   */
  public Table toHost(Table table) {
    return isHost()
        ? table.share()
        : table.copyTo(context.pinnedResource(), context.hostStream(), context.stream());
  }

  /**
   * The table in the device's memory; the caller owns it. The copy is enqueued on the chain's
   * stream, and the host memory is kept until the next call, so that nothing waits for it.
   *
   * @param table in host memory; this takes ownership, also if it fails
   */
  public Table toDevice(Table table) {
    if (isHost()) {
      return table;
    }
    try {
      close();
    } finally {
      uploading = table;
    }
    return table.copyTo(context.resource(), context.stream(), context.stream());
  }

  private boolean isHost() {
    return context.device().kind() == DeviceKind.HOST;
  }

  /** Waits for the last copy to the device and frees its source. */
  @Override
  public void close() {
    Table uploaded = uploading;
    uploading = null;
    if (uploaded != null) {
      uploaded.close();
    }
  }
}
