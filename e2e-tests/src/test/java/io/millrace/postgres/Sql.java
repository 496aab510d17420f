// SPDX-License-Identifier: Apache-2.0
package io.millrace.postgres;

import io.millrace.services.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Statements of a test, each on a connection of its own. */
public final class Sql {
  private final Database database;

  public Sql(Database database) {
    this.database = database;
  }

  /** Executes statements. */
  public void execute(String... statements) throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  /** The rows, each as the text of a row of PostgreSQL. */
  List<String> rows(String query) throws SQLException {
    return strings("SELECT r::text FROM (" + query + ") AS r");
  }

  /** The values of the only column. */
  public List<String> strings(String query) throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(query)) {
      List<String> strings = new ArrayList<>();
      while (result.next()) {
        strings.add(result.getString(1));
      }
      return strings;
    }
  }

  /** The value of the only column of the only row. */
  public long number(String query) throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(query)) {
      result.next();
      return result.getLong(1);
    }
  }

  /** How many rows a table has. */
  long count(String table) throws SQLException {
    return number("SELECT count(*) FROM " + table);
  }

  /** Ends the sessions of Millrace's jobs, and returns how many there were. */
  long endSessions() throws SQLException {
    return number(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            + " WHERE application_name LIKE 'millrace%' AND pid <> pg_backend_pid()");
  }

  /** The names of the tables with staged rows of a sink. */
  List<String> stagedTables(String sinkId) throws SQLException {
    return strings(
        "SELECT tablename FROM pg_tables WHERE starts_with(tablename, 'millrace_" + sinkId + "_')");
  }
}
