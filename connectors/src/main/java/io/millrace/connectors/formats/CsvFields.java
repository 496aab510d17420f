// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Cuts a line into its fields, as RFC 4180 has them. Own code because CSV libraries at hand trim
 * spaces, or give null and the empty string alike, or take text behind a closing quote.
 */
final class CsvFields {
  private static final char REPLACEMENT = '\ufffd';

  private final String line;
  private final char delimiter;
  private int position;

  private CsvFields(String line, char delimiter) {
    this.line = line;
    this.delimiter = delimiter;
  }

  /**
   * The fields of {@code line}, at least one; null for empty fields without quotes.
   *
   * @throws MalformedLineException if the line is not UTF-8, or has a misplaced quote
   */
  static List<String> split(byte[] line, char delimiter) throws MalformedLineException {
    CsvFields fields = new CsvFields(decode(line), delimiter);
    List<String> split = new ArrayList<>();
    split.add(fields.next());
    while (fields.position < fields.line.length()) {
      fields.position++;
      split.add(fields.next());
    }
    return split;
  }

  private static String decode(byte[] line) throws MalformedLineException {
    String text = new String(line, StandardCharsets.UTF_8);
    if (text.indexOf(REPLACEMENT) >= 0) {
      try {
        StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line));
      } catch (CharacterCodingException e) {
        throw new MalformedLineException("no CSV: the text is not UTF-8", e);
      }
    }
    return text;
  }

  // Ends at a delimiter or at the line's end.
  private String next() throws MalformedLineException {
    if (position < line.length() && line.charAt(position) == '"') {
      return nextQuoted();
    }
    int start = position;
    while (position < line.length() && line.charAt(position) != delimiter) {
      if (line.charAt(position) == '"') {
        throw malformed("a quote within a field without quotes", position);
      }
      position++;
    }
    return start == position ? null : line.substring(start, position);
  }

  private String nextQuoted() throws MalformedLineException {
    int open = position;
    StringBuilder field = new StringBuilder();
    int start = open + 1;
    while (true) {
      int quote = line.indexOf('"', start);
      if (quote < 0) {
        throw malformed("a quote that is not closed", open);
      }
      field.append(line, start, quote);
      position = quote + 1;
      if (position == line.length() || line.charAt(position) == delimiter) {
        return field.toString();
      }
      if (line.charAt(position) != '"') {
        throw malformed("text behind a closing quote", position);
      }
      field.append('"');
      start = position + 1;
    }
  }

  private static MalformedLineException malformed(String what, int index) {
    return new MalformedLineException("no CSV: " + what + " at character " + (index + 1));
  }
}
