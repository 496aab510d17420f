// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.arrow;

import io.millrace.arrow.ipc.ArrowRecordBatchReader;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.files.message.MessageDecoder;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.operators.context.DeviceContext;
import java.io.IOException;

/** Decodes Arrow IPC record batch messages. */
final class ArrowMessageDecoder implements MessageDecoder {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  // null before the first message.
  private transient ArrowRecordBatchReader reader;

  ArrowMessageDecoder(Schema schema) {
    this.schema = schema;
  }

  @Override
  public Table decode(byte[] bytes, DeviceContext context) throws IOException {
    if (reader == null) {
      reader = new ArrowRecordBatchReader(schema);
    }
    try (Buffer message =
        Buffer.allocate(bytes.length, context.hostStream(), context.pinnedResource())) {
      try (AccessScope scope = AccessScope.on(context.hostStream())) {
        HostMemory.copyFromArray(message.access(AccessMode.WRITE, scope), bytes, 0, bytes.length);
      }
      return reader.read(message, context.hostStream(), context.pinnedResource());
    }
  }
}
