// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.message;

import io.millrace.column.Table;
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
   * @return all of its rows, in host memory; the caller closes it
   * @throws IOException if the message is corrupt
   */
  Table decode(byte[] message, DeviceContext context) throws IOException;
}
