// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import static java.util.stream.Collectors.joining;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * What became of a record.
 *
 * @param rows the values of each row, in the form of {@link io.millrace.testing.TableRows}
 * @param fault why the record is malformed; empty if it is not
 */
public record RecordResult(List<List<Object>> rows, String fault) {
  private static final Set<String> NO_VALUES = Set.of("malformed", "no row", "NULL");

  /** A record that is not a row. */
  public static RecordResult malformed(String reason) {
    return new RecordResult(List.of(), reason);
  }

  /** The rows of a record. */
  public static RecordResult of(List<List<Object>> rows) {
    return new RecordResult(rows, "");
  }

  /** The values of all rows, or {@code malformed}. */
  public String text() {
    if (!fault.isEmpty()) {
      return "malformed";
    }
    return rows.isEmpty()
        ? "no row"
        : rows.stream().flatMap(List::stream).map(RecordResult::text).collect(joining(", "));
  }

  private static String text(Object value) {
    if (value instanceof ByteBuffer bytes) {
      byte[] copy = new byte[bytes.remaining()];
      bytes.duplicate().get(copy);
      return "x'" + HexFormat.of().formatHex(copy) + "'";
    }
    return value == null
        ? "NULL"
        : value.toString().replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
  }

  /** What {@link #text} gives, for a table in Markdown. */
  public static String cell(String text) {
    return NO_VALUES.contains(text) ? text : "`" + text + "`";
  }
}
