// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.column.Schema;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordLines;
import io.millrace.testing.DeviceExtension;
import java.nio.charset.StandardCharsets;

/** Reads lines of JSON on a test's device. */
final class JsonLines {
  private JsonLines() {}

  /** The caller closes the result. */
  static ParsedRecords read(Schema schema, String lines, DeviceExtension device) {
    return read(schema, lines.getBytes(StandardCharsets.UTF_8), device);
  }

  /** The caller closes the result. */
  static ParsedRecords read(Schema schema, byte[] lines, DeviceExtension device) {
    try (RecordBytes records = RecordLines.of(lines, device);
        JsonReader reader = new JsonReader(schema, device.stream(), device.memory())) {
      return reader.read(records);
    }
  }
}
