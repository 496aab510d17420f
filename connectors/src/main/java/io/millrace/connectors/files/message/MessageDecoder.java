// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.message;

import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.operators.context.DeviceContext;
import java.io.IOException;
import java.io.Serializable;
import org.apache.flink.annotation.Internal;

/** Decodes messages of a format. Used by one thread. */
@Internal
public interface MessageDecoder extends Serializable {
  /**
   * Makes one attempt to decode a message.
   *
   * @return all of its rows, in memory of the context's device if {@link #isOnDevice}, else in host
   *     memory; the caller closes it
   * @throws IOException if the message is corrupt
   */
  Table decode(byte[] message, DeviceContext context) throws IOException;

  /** Whether messages become tables in the device's memory, by work on the device. */
  default boolean isOnDevice(Device device) {
    return false;
  }
}
