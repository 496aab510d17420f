package io.millrace.connectors.files;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Cuts bytes into lines as the file source does. */
public final class TextLineFixture {
  private TextLineFixture() {}

  /** The lines of {@code file}, without their ends. */
  public static List<byte[]> lines(byte[] file, LineFraming framing) throws IOException {
    List<byte[]> lines = new ArrayList<>();
    for (TextLine line : read(file, framing, TextLineFormat.DEFAULT_MAXIMUM_LINE_BYTES)) {
      lines.add(line.bytes());
    }
    return lines;
  }

  static List<TextLine> read(byte[] file, LineFraming framing, int maximumLineBytes)
      throws IOException {
    List<TextLine> lines = new ArrayList<>();
    try (TextLineReader reader =
        new TextLineReader(
            "memory", new ByteArrayInputStream(file), 0, file.length, framing, maximumLineBytes)) {
      for (TextLine line = reader.readLine(); line != null; line = reader.readLine()) {
        lines.add(line);
      }
    }
    return lines;
  }
}
