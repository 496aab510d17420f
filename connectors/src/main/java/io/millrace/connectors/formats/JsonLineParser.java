// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.Schema;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.table.data.RowData;

/**
 * Parses JSON lines: one JSON object a line, its members by name the columns. A member that is
 * missing is null; a field without a column is skipped; blank lines are skipped.
 *
 * <p>A value must be what its column is: booleans and numbers as such (NaN, infinities and decimals
 * also as strings), strings as strings, dates, times and timestamps as ISO-8601 strings, bytes as
 * Base64 strings, ROW as an object, ARRAY as an array. Anything else makes the line malformed, and
 * so do numbers out of range, a null or missing NOT NULL column, a column that is there twice, text
 * that is not UTF-8, and anything behind the object.
 */
@PublicEvolving
public final class JsonLineParser implements LineParser {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private transient ValueField root;

  public JsonLineParser(Schema schema) {
    this.schema = Objects.requireNonNull(schema, "schema is null");
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public Optional<RowData> parse(byte[] line) throws MalformedLineException {
    if (isBlank(line)) {
      return Optional.empty();
    }
    if (root == null) {
      root = ValueField.of(schema);
    }
    return Optional.of((RowData) JsonValueReader.read(root, line));
  }

  private static boolean isBlank(byte[] line) {
    for (byte b : line) {
      if (b != ' ' && b != '\t' && b != '\r') {
        return false;
      }
    }
    return true;
  }
}
