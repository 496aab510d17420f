// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Cuts bytes into lines as the file source does. */
public final class TextLineFixture {
  private TextLineFixture() {}

  /** The lines of {@code file}. */
  public static List<TextLine> read(byte[] file, TextLineOptions options) throws IOException {
    List<TextLine> lines = new ArrayList<>();
    try (TextLineReader reader =
        new TextLineReader(
            "memory", new ByteArrayInputStream(file), 0, file.length, options, null)) {
      if (options.header()) {
        reader.readHeader();
      }
      for (TextLine line = reader.readLine(); line != null; line = reader.readLine()) {
        lines.add(line);
      }
    }
    return lines;
  }
}
