// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import io.millrace.column.Table;
import io.millrace.device.DeviceEvent;
import org.apache.flink.annotation.Internal;

/**
 * A table in host memory that is being copied there. Whoever made it closes it, and so the table.
 */
@Internal
public final class Download implements AutoCloseable {
  private final Table table;
  private final DeviceEvent copied;

  /** Takes ownership of both. */
  Download(Table table, DeviceEvent copied) {
    this.table = table;
    this.copied = copied;
  }

  /** Whether {@link #await} does not wait. */
  public boolean isDone() {
    return copied.isReached();
  }

  /** The table, once it is there; still owned by this. */
  public Table await() {
    copied.synchronize();
    return table;
  }

  @Override
  public void close() {
    try {
      table.close();
    } finally {
      copied.close();
    }
  }
}
