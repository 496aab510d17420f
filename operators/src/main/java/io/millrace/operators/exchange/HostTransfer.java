package io.millrace.operators.exchange;

import io.millrace.column.Table;
import io.millrace.device.DeviceKind;
import io.millrace.operators.batch.DeviceContext;

/**
 * Moves tables between an operator's device and pinned host memory; where the host is the device,
 * it only shares them. Used by one thread.
 */
final class HostTransfer implements AutoCloseable {
  private final DeviceContext context;
  private Table uploading;

  HostTransfer(DeviceContext context) {
    this.context = context;
  }

  /** The table in host memory. The copy is enqueued; readers of the result wait for it. */
  Table toHost(Table table) {
    return isHost()
        ? table.share()
        : table.copyTo(context.pinnedResource(), context.hostStream(), context.stream());
  }

  /**
   * The table in the device's memory. The copy is enqueued on the chain's stream, and the host
   * memory is kept until the next call, so that nothing waits for it.
   *
   * @param table in host memory; this takes ownership
   */
  Table toDevice(Table table) {
    if (isHost()) {
      return table;
    }
    close();
    uploading = table;
    return table.copyTo(context.resource(), context.stream(), context.stream());
  }

  private boolean isHost() {
    return context.device().kind() == DeviceKind.HOST;
  }

  /** Waits for the last copy to the device and frees its source. */
  @Override
  public void close() {
    if (uploading != null) {
      uploading.close();
      uploading = null;
    }
  }
}
