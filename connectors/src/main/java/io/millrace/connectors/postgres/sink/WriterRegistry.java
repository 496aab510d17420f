// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import io.millrace.connectors.postgres.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/**
 * The table {@code millrace_writers}, which has a row for each writer that ever started: whose
 * tables of staged rows are whose, and which of them were committed.
 */
final class WriterRegistry {
  private static final String NAME = "millrace_writers";
  // Sinks that start at the same time make the table one after the other.
  private static final String LOCK = "SELECT pg_advisory_xact_lock(hashtext('" + NAME + "'))";

  private final PostgresSinkOptions options;
  private final String table;

  WriterRegistry(PostgresSinkOptions options) {
    this.options = options;
    this.table = options.stagingTable(NAME).sql();
  }

  /** The table of a writer's staged rows. */
  TableName staged(String writer, long sequence) {
    return options.stagingTable(prefix(writer) + sequence);
  }

  private String prefix(String writer) {
    return "millrace_" + options.sinkId() + "_" + writer + "_";
  }

  /** Adds a writer, in a transaction of its own. Makes the table if it is not there. */
  void add(Connection connection, String writer, int subtask, long restoredCheckpoint)
      throws SQLException {
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.execute(LOCK);
      statement.execute(
          "CREATE TABLE IF NOT EXISTS "
              + table
              + " (sink text NOT NULL, writer text NOT NULL, subtask integer NOT NULL,"
              + " restored_checkpoint bigint NOT NULL, committed bigint NOT NULL DEFAULT -1,"
              + " started_at timestamp with time zone NOT NULL DEFAULT now(),"
              + " PRIMARY KEY (sink, writer))");
    }
    try (PreparedStatement statement =
        connection.prepareStatement(
            "INSERT INTO "
                + table
                + " (sink, writer, subtask, restored_checkpoint) VALUES (?, ?, ?, ?)")) {
      statement.setString(1, options.sinkId());
      statement.setString(2, writer);
      statement.setInt(3, subtask);
      statement.setLong(4, restoredCheckpoint);
      statement.executeUpdate();
    }
    connection.commit();
    connection.setAutoCommit(true);
  }

  /**
   * The subtasks that ever had a writer of the sink and that subtask {@code subtask} answers for:
   * its own, and of those that are no longer there, each {@code parallelism}-th.
   */
  Set<Integer> subtasks(Connection connection, int subtask, int parallelism) throws SQLException {
    Set<Integer> subtasks = new TreeSet<>();
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT DISTINCT subtask FROM " + table + " WHERE sink = ? AND subtask % ? = ?")) {
      statement.setString(1, options.sinkId());
      statement.setInt(2, parallelism);
      statement.setInt(3, subtask);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          subtasks.add(rows.getInt(1));
        }
      }
    }
    return subtasks;
  }

  /**
   * The names of tables that belong to no checkpoint, and were made by earlier writers that subtask
   * {@code subtask} answers for.
   *
   * @param restoredCheckpoint the checkpoint that is restored; 0 if there is none
   * @param restored the positions of that checkpoint that this subtask got
   */
  List<String> leftovers(
      Connection connection,
      int subtask,
      int parallelism,
      long restoredCheckpoint,
      Collection<WriterPosition> restored)
      throws SQLException {
    List<WriterPosition> ends = new ArrayList<>(restored);
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT writer FROM "
                + table
                + " WHERE sink = ? AND subtask % ? = ? AND restored_checkpoint >= ?")) {
      statement.setString(1, options.sinkId());
      statement.setInt(2, parallelism);
      statement.setInt(3, subtask);
      statement.setLong(4, restoredCheckpoint);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          // It began with the restored checkpoint or a later one: it has nothing in that one.
          ends.add(new WriterPosition(rows.getString(1), 0));
        }
      }
    }
    List<String> leftovers = new ArrayList<>();
    for (WriterPosition end : ends) {
      addTables(connection, end, leftovers);
    }
    return leftovers;
  }

  private void addTables(Connection connection, WriterPosition first, List<String> tables)
      throws SQLException {
    String prefix = prefix(first.writer());
    TableName any = staged(first.writer(), 0);
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace"
                + " WHERE nspname = ? AND starts_with(relname, ?) AND relkind = 'r'")) {
      statement.setString(1, any.schema());
      statement.setString(2, prefix);
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          String name = rows.getString(1);
          if (Long.parseLong(name.substring(prefix.length())) >= first.next()) {
            tables.add(name);
          }
        }
      }
    }
  }

  /**
   * The number of the writer's table that was committed last, -1 if there is none. Until the
   * transaction ends, no other one commits rows of the writer.
   *
   * @return empty if there is no such writer
   */
  OptionalLong lockCommitted(Connection connection, String writer) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT committed FROM " + table + " WHERE sink = ? AND writer = ? FOR UPDATE")) {
      statement.setString(1, options.sinkId());
      statement.setString(2, writer);
      try (ResultSet rows = statement.executeQuery()) {
        return rows.next() ? OptionalLong.of(rows.getLong(1)) : OptionalLong.empty();
      }
    }
  }

  /** Sets what {@link #lockCommitted} returns. */
  void setCommitted(Connection connection, String writer, long sequence) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "UPDATE " + table + " SET committed = ? WHERE sink = ? AND writer = ?")) {
      statement.setLong(1, sequence);
      statement.setString(2, options.sinkId());
      statement.setString(3, writer);
      statement.executeUpdate();
    }
  }

  @Override
  public String toString() {
    return table;
  }
}
