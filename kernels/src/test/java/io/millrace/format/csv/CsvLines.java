// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.csv;

import io.millrace.column.Schema;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordLines;
import io.millrace.memory.Buffer;
import io.millrace.testing.DeviceExtension;
import java.nio.charset.StandardCharsets;

/** Reads a text of CSV, whose line feeds may be within quotes, on a test's device. */
final class CsvLines {
  private CsvLines() {}

  /** The caller closes the result. */
  static ParsedRecords read(
      Schema schema, CsvReaderOptions options, String text, DeviceExtension device) {
    return read(schema, options, text.getBytes(StandardCharsets.UTF_8), device);
  }

  /** The caller closes the result. */
  static ParsedRecords read(
      Schema schema, CsvReaderOptions options, byte[] text, DeviceExtension device) {
    try (Buffer buffer = RecordLines.buffer(text, device);
        RecordBytes records =
            RecordBytes.quotedLines(buffer, options.quotes(), device.stream(), device.memory());
        CsvReader reader = new CsvReader(schema, options, device.stream(), device.memory())) {
      return reader.read(records);
    }
  }
}
