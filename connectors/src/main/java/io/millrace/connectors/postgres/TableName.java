// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres;

import io.millrace.column.DataType.Field;
import io.millrace.connectors.postgres.copy.PostgresType;
import java.io.Serializable;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.annotation.Internal;

/**
 * A table with its schema, as they are in the catalog: without quotes, and in their case.
 *
 * @param schema such as {@code public}
 */
@Internal
public record TableName(String schema, String name) implements Serializable {
  private static final long serialVersionUID = 1L;

  public TableName {
    quote(schema);
    quote(name);
  }

  /** An identifier in quotes, which keep each character. */
  public static String quote(String identifier) {
    if (identifier.isEmpty() || identifier.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("expected a name, got '" + identifier + "'");
    }
    return '"' + identifier.replace("\"", "\"\"") + '"';
  }

  /** Identifiers in quotes, with commas between them. */
  public static String quoteAll(List<String> identifiers) {
    return identifiers.stream().map(TableName::quote).collect(Collectors.joining(", "));
  }

  /** Columns in quotes, each cast to the type that COPY has for its type. */
  public static String castAll(List<Field> columns) {
    return columns.stream()
        .map(column -> quote(column.name()) + "::" + PostgresType.sqlName(column.type()))
        .collect(Collectors.joining(", "));
  }

  /** The name as SQL has it. */
  public String sql() {
    return quote(schema) + "." + quote(name);
  }

  @Override
  public String toString() {
    return schema + "." + name;
  }
}
