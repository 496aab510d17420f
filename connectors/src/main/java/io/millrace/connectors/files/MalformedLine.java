// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonFactory;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonGenerator;

/**
 * A line that could not be parsed.
 *
 * @param reason the error in one sentence, without the text of the line
 */
@PublicEvolving
public record MalformedLine(TextLine line, String reason) {
  private static final JsonFactory JSON = new JsonFactory();
  private static final int SHOWN_CHARACTERS = 200;

  public MalformedLine {
    Objects.requireNonNull(line, "line is null");
    Objects.requireNonNull(reason, "reason is null");
  }

  /** Position, reason and the start of the line, for messages. */
  public String message() {
    String text = line.text();
    String shown =
        text.length() > SHOWN_CHARACTERS ? text.substring(0, SHOWN_CHARACTERS) + "..." : text;
    return line.position() + ": " + reason + ": " + shown;
  }

  /** A JSON object of path, offset, reason and text, and a line feed. */
  public byte[] toJson() {
    ByteArrayOutputStream json = new ByteArrayOutputStream();
    try (JsonGenerator generator = JSON.createGenerator(json)) {
      generator.writeStartObject();
      generator.writeStringField("path", line.path());
      generator.writeNumberField("offset", line.offset());
      generator.writeStringField("reason", reason);
      generator.writeStringField("text", line.text());
      generator.writeEndObject();
      generator.writeRaw('\n');
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
    return json.toByteArray();
  }
}
