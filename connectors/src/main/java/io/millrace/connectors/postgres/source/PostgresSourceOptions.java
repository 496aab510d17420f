// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.source;

import io.millrace.connectors.postgres.PostgresConnectionOptions;
import io.millrace.connectors.postgres.TableName;
import java.io.Serializable;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/** Which table a source reads, and how. Immutable; shows no password. */
@PublicEvolving
public final class PostgresSourceOptions implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final int DEFAULT_SPLITS = 64;
  private static final int DEFAULT_BATCH_ROWS = 32_768;

  private final PostgresConnectionOptions connection;
  private final TableName table;
  private final String key;
  private final String filter;
  private final int splits;
  private final int batchRows;
  private final long limit;

  private PostgresSourceOptions(
      PostgresConnectionOptions connection,
      TableName table,
      String key,
      String filter,
      int splits,
      int batchRows,
      long limit) {
    this.connection = Objects.requireNonNull(connection, "connection is null");
    this.table = table;
    this.key = key;
    this.filter = filter;
    this.splits = splits;
    this.batchRows = batchRows;
    this.limit = limit;
  }

  /**
   * Options for a whole table, in up to 64 ranges of keys and batches of up to 32768 rows.
   *
   * @param schema the table's schema, such as {@code public}, unquoted and in its case
   * @param table unquoted and in its case
   * @param key a column with a unique index of its own and without nulls, such as a primary key
   */
  public static PostgresSourceOptions of(
      PostgresConnectionOptions connection, String schema, String table, String key) {
    return new PostgresSourceOptions(
        connection,
        new TableName(schema, table),
        Objects.requireNonNull(key, "key is null"),
        "true",
        DEFAULT_SPLITS,
        DEFAULT_BATCH_ROWS,
        Long.MAX_VALUE);
  }

  /**
   * These options for the rows for which {@code condition} holds.
   *
   * @param condition what follows WHERE in SQL; it is sent to the database as it is
   */
  public PostgresSourceOptions withFilter(String condition) {
    return new PostgresSourceOptions(connection, table, key, condition, splits, batchRows, limit);
  }

  /**
   * These options with another number of ranges.
   *
   * @param count the most ranges; more than subtasks, so that all end at about the same time
   */
  public PostgresSourceOptions withSplits(int count) {
    if (count < 1) {
      throw new IllegalArgumentException("expected at least 1 split, got " + count);
    }
    return new PostgresSourceOptions(connection, table, key, filter, count, batchRows, limit);
  }

  /** These options with another number of rows that a batch has at most. */
  public PostgresSourceOptions withBatchRows(int rows) {
    if (rows < 1) {
      throw new IllegalArgumentException("expected at least 1 row, got " + rows);
    }
    return new PostgresSourceOptions(connection, table, key, filter, splits, rows, limit);
  }

  /**
   * These options for any rows of the table, so many if it has as many. They are read as one range,
   * by one subtask.
   *
   * @throws IllegalArgumentException if {@code rows} is less than 1
   */
  public PostgresSourceOptions withLimit(long rows) {
    if (rows < 1) {
      throw new IllegalArgumentException("expected a limit of at least 1 row, got " + rows);
    }
    return new PostgresSourceOptions(connection, table, key, filter, 1, batchRows, rows);
  }

  PostgresConnectionOptions connection() {
    return connection;
  }

  TableName table() {
    return table;
  }

  String key() {
    return key;
  }

  String filter() {
    return filter;
  }

  int splits() {
    return splits;
  }

  int batchRows() {
    return batchRows;
  }

  long limit() {
    return limit;
  }

  @Override
  public String toString() {
    return "PostgreSQL table " + table + " at " + connection;
  }
}
