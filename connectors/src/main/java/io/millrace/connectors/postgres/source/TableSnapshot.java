// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.source;

import io.millrace.connectors.postgres.Session;
import io.millrace.connectors.postgres.TableName;
import io.millrace.connectors.postgres.TargetTable;
import io.millrace.connectors.postgres.source.KeyRange.Bound;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * A table as it is at one moment, for readers on other connections: a transaction whose snapshot
 * they import while it is open. Used by one thread.
 */
final class TableSnapshot {
  private static final String BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

  private static final int VALIDATION_SECONDS = 5;

  private final PostgresSourceOptions options;
  private final Session session;
  private String name = KeyRange.OWN_SNAPSHOT;

  TableSnapshot(PostgresSourceOptions options) {
    this.options = options;
    this.session = new Session(options.connection(), "millrace snapshot", connection -> {});
  }

  /** The name under which readers import the snapshot; that of none if it is not open. */
  String name() {
    return name;
  }

  void open() throws SQLException {
    try (Statement statement = session.connection().createStatement()) {
      statement.execute(BEGIN);
      name = string(statement, "SELECT pg_export_snapshot()");
    }
  }

  /** Takes a snapshot of a later moment if this one is open and its connection broke. */
  void openAgainIfBroken() throws SQLException {
    boolean isOpen = !name.equals(KeyRange.OWN_SNAPSHOT);
    if (isOpen && !session.connection().isValid(VALIDATION_SECONDS)) {
      close();
      open();
    }
  }

  /** Begins a transaction that reads a snapshot. */
  static void begin(Connection connection, String snapshot) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(BEGIN);
      if (!snapshot.equals(KeyRange.OWN_SNAPSHOT)) {
        statement.execute("SET TRANSACTION SNAPSHOT " + KeyRangeQuery.literal(snapshot));
      }
    }
  }

  /**
   * Ranges that have each key of the table once.
   *
   * @throws IllegalArgumentException if the key is not a column with a unique index and without
   *     nulls
   */
  List<KeyRange> split() throws SQLException {
    Connection connection = session.connection();
    TargetTable.checkKey(connection, options.table(), options.key());
    List<String> starts = new ArrayList<>();
    try (Statement statement = connection.createStatement()) {
      if (KeyRangeQuery.INTEGERS.contains(keyType(statement))) {
        addEvenStarts(statement, starts);
      } else {
        addQuantiles(statement, starts);
      }
    }
    List<KeyRange> ranges = new ArrayList<>();
    for (int i = 0; i < Math.max(1, starts.size()); i++) {
      Bound lower = i == 0 ? Bound.NONE : new Bound(starts.get(i));
      Bound upper = i + 1 < starts.size() ? new Bound(starts.get(i + 1)) : Bound.NONE;
      ranges.add(new KeyRange(i, lower, upper, Bound.NONE, name));
    }
    return ranges;
  }

  private String keyType(Statement statement) throws SQLException {
    return string(statement, KeyRangeQuery.keyType(options));
  }

  private void addEvenStarts(Statement statement, List<String> starts) throws SQLException {
    String key = TableName.quote(options.key());
    String low = string(statement, "SELECT min(" + key + ") " + KeyRangeQuery.from(options));
    if (low == null) {
      return;
    }
    String high = string(statement, "SELECT max(" + key + ") " + KeyRangeQuery.from(options));
    BigInteger first = new BigInteger(low);
    BigInteger keys = new BigInteger(high).subtract(first).add(BigInteger.ONE);
    BigInteger count = BigInteger.valueOf(options.splits()).min(keys);
    for (int i = 0; i < count.intValue(); i++) {
      starts.add(first.add(keys.multiply(BigInteger.valueOf(i)).divide(count)).toString());
    }
  }

  private void addQuantiles(Statement statement, List<String> starts) throws SQLException {
    try (ResultSet rows = statement.executeQuery(KeyRangeQuery.quantiles(options))) {
      while (rows.next()) {
        starts.add(rows.getString(1));
      }
    }
  }

  private static String string(Statement statement, String query) throws SQLException {
    try (ResultSet rows = statement.executeQuery(query)) {
      return rows.next() ? rows.getString(1) : null;
    }
  }

  /** Ends the transaction. Idempotent. */
  void close() {
    name = KeyRange.OWN_SNAPSHOT;
    session.close();
  }
}
