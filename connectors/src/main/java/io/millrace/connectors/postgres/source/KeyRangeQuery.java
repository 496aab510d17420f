// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.source;

import io.millrace.column.Schema;
import io.millrace.connectors.postgres.TableName;
import java.util.Set;

/** The statements of a source. */
final class KeyRangeQuery {
  /** The types whose values are cut into even ranges. */
  static final Set<String> INTEGERS = Set.of("smallint", "integer", "bigint");

  private KeyRangeQuery() {}

  static String literal(String text) {
    return "'" + text.replace("'", "''") + "'";
  }

  static String from(PostgresSourceOptions options) {
    return "FROM " + options.table().sql() + " AS source WHERE (" + options.filter() + ")";
  }

  /** The key's type as SQL has it, with its length: a key of CHAR without one has one character. */
  static String keyType(PostgresSourceOptions options) {
    return "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = to_regclass("
        + literal(options.table().sql())
        + ") AND attname = "
        + literal(options.key());
  }

  /** The first keys, as text, of as many parts of equal size as there are to be ranges. */
  static String quantiles(PostgresSourceOptions options) {
    String key = TableName.quote(options.key());
    return "SELECT key::text FROM (SELECT DISTINCT ON (part) key, part FROM (SELECT "
        + key
        + " AS key, ntile("
        + options.splits()
        + ") OVER (ORDER BY "
        + key
        + ") AS part "
        + from(options)
        + ") AS keys ORDER BY part, key) AS starts ORDER BY starts.key";
  }

  /**
   * Copies the rest of a range, ordered by key. Behind the columns is the key as text.
   *
   * @param schema the columns to read, which are cast to the types that the schema has
   */
  static String copy(PostgresSourceOptions options, Schema schema, KeyRange range, String keyType) {
    // ORDER BY would take the bare name for the result of the cast.
    String key = "source." + TableName.quote(options.key());
    return "COPY (SELECT "
        + TableName.castAll(schema.fields())
        + ", "
        + key
        + "::text "
        + from(options)
        + condition(key, " >= ", range.lower(), keyType)
        + condition(key, " < ", range.upper(), keyType)
        + condition(key, " > ", range.position(), keyType)
        + " ORDER BY "
        + key
        + (options.limit() == Long.MAX_VALUE ? "" : " LIMIT " + options.limit())
        + ") TO STDOUT (FORMAT binary)";
  }

  private static String condition(
      String key, String operator, KeyRange.Bound bound, String keyType) {
    return bound.isNone() ? "" : " AND " + key + operator + literal(bound.key()) + "::" + keyType;
  }
}
