// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.ipc;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.util.List;

/** The bytes of Arrow IPC streams. */
public final class EncodedStream {
  private EncodedStream() {}

  /** A stream of {@code batches}, each of which is a list of rows. */
  public static byte[] of(DeviceExtension device, Schema schema, List<List<List<Object>>> batches)
      throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ArrowIpcStreamWriter writer =
        new ArrowIpcStreamWriter(
            schema, Channels.newChannel(bytes), device.hostStream(), device.hostMemory())) {
      for (List<List<Object>> rows : batches) {
        try (Table table = TableBuilder.ofRows(schema, rows).buildOnHost(device)) {
          writer.write(table);
        }
      }
    }
    return bytes.toByteArray();
  }
}
