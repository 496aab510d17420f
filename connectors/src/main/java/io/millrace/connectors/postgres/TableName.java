// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres;

import java.io.Serializable;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A table with its schema, as they are in the catalog: without quotes, and in their case.
 *
 * @param schema such as {@code public}
 */
record TableName(String schema, String name) implements Serializable {
  private static final long serialVersionUID = 1L;

  TableName {
    quote(schema);
    quote(name);
  }

  /** An identifier in quotes, which keep each character. */
  static String quote(String identifier) {
    if (identifier.isEmpty() || identifier.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("expected a name, got '" + identifier + "'");
    }
    return '"' + identifier.replace("\"", "\"\"") + '"';
  }

  /** Identifiers in quotes, with commas between them. */
  static String quoteAll(List<String> identifiers) {
    return identifiers.stream().map(TableName::quote).collect(Collectors.joining(", "));
  }

  /** Another table of the same schema. */
  TableName sibling(String other) {
    return new TableName(schema, other);
  }

  /** The name as SQL has it. */
  String sql() {
    return quote(schema) + "." + quote(name);
  }

  @Override
  public String toString() {
    return schema + "." + name;
  }
}
