// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.postgres.TableName;
import io.millrace.connectors.postgres.TargetTable;
import io.millrace.operators.row.RowKindColumn;
import java.io.Serializable;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.types.RowKind;

/**
 * The statements that bring rows of a stream into a table that holds them for a time, and from
 * there into their target.
 */
final class MergeStatements implements Serializable {
  private static final long serialVersionUID = 1L;
  // The rows of a table of rows are numbered, so that the last one of a key can be told.
  private static final String NUMBER = TableName.quote("$row_number");
  private static final String KIND = TableName.quote(RowKindColumn.NAME);
  private static final String DELETIONS =
      RowKind.UPDATE_BEFORE.toByteValue() + ", " + RowKind.DELETE.toByteValue();

  private final TableName target;
  private final List<String> columns;
  private final List<String> keys;
  private final boolean isChangelog;

  /**
   * @param schema of the batches
   * @param keys empty if rows are only added
   * @throws IllegalArgumentException if a key is not a column, or a changelog has no key
   */
  MergeStatements(TableName target, Schema schema, List<String> keys) {
    this.target = target;
    this.columns = RowKindColumn.rowFields(schema).stream().map(Field::name).toList();
    this.keys = List.copyOf(keys);
    this.isChangelog = RowKindColumn.isIn(schema);
    keys.forEach(schema::indexOf);
    if (isChangelog && keys.isEmpty()) {
      throw new IllegalArgumentException(
          "the stream is a changelog, whose rows replace others: key columns are missing");
    }
  }

  /**
   * Makes a table of rows.
   *
   * @param create {@code CREATE TABLE} or the like
   * @param definitions of the stream's columns, as {@link TargetTable} gives them
   */
  String create(String create, String rows, List<String> definitions) {
    return create
        + " "
        + rows
        + " ("
        + NUMBER
        + " bigint GENERATED ALWAYS AS IDENTITY, "
        + (isChangelog ? KIND + " smallint NOT NULL, " : "")
        + String.join(", ", definitions)
        + ")";
  }

  /** Copies rows of the stream's schema from the client. */
  String copy(String rows) {
    String kind = isChangelog ? ", " + KIND : "";
    return "COPY "
        + rows
        + " ("
        + TableName.quoteAll(columns)
        + kind
        + ") FROM STDIN (FORMAT binary)";
  }

  /** Brings rows into their target; for one transaction. */
  List<String> merge(String rows) {
    if (keys.isEmpty()) {
      String names = TableName.quoteAll(columns);
      return List.of(insert() + " SELECT " + names + " FROM " + rows + " ORDER BY " + NUMBER);
    }
    return isChangelog
        ? List.of(delete(rows), upsert(rows, " WHERE " + KIND + " NOT IN (" + DELETIONS + ")"))
        : List.of(upsert(rows, ""));
  }

  private String insert() {
    return "INSERT INTO " + target.sql() + " (" + TableName.quoteAll(columns) + ")";
  }

  /** The last row of each key. */
  private String last(String rows) {
    String names = TableName.quoteAll(keys);
    return "(SELECT DISTINCT ON ("
        + names
        + ") * FROM "
        + rows
        + " ORDER BY "
        + names
        + ", "
        + NUMBER
        + " DESC) AS last";
  }

  private String delete(String rows) {
    String sameKey =
        keys.stream()
            .map(TableName::quote)
            .map(key -> "target." + key + " = last." + key)
            .collect(Collectors.joining(" AND "));
    return "DELETE FROM "
        + target.sql()
        + " AS target USING "
        + last(rows)
        + " WHERE "
        + sameKey
        + " AND last."
        + KIND
        + " IN ("
        + DELETIONS
        + ")";
  }

  private String upsert(String rows, String condition) {
    String assignments =
        columns.stream()
            .filter(column -> !keys.contains(column))
            .map(TableName::quote)
            .map(column -> column + " = EXCLUDED." + column)
            .collect(Collectors.joining(", "));
    return insert()
        + " SELECT "
        + TableName.quoteAll(columns)
        + " FROM "
        + last(rows)
        + condition
        + " ON CONFLICT ("
        + TableName.quoteAll(keys)
        + ") DO "
        + (assignments.isEmpty() ? "NOTHING" : "UPDATE SET " + assignments);
  }
}
