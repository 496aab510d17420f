// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/** A PostgreSQL server on 127.0.0.1 with an empty database. */
public final class Database extends TestedServer {
  /** Transactions that may be prepared for a commit in two phases at the same time. */
  static final int MAX_PREPARED_TRANSACTIONS = 64;

  /** The name of the database, of its owner and superuser, and the password. */
  static final String NAME = "test";

  /** The password of each database. */
  public static final String PASSWORD = NAME;

  private final String jdbcUrl;

  Database(Server server, int port) {
    super("PostgreSQL", server);
    this.jdbcUrl = "jdbc:postgresql://127.0.0.1:" + port + "/" + NAME;
  }

  public String jdbcUrl() {
    return jdbcUrl;
  }

  public String user() {
    return NAME;
  }

  public String password() {
    return PASSWORD;
  }

  /** A new connection, in auto-commit mode. */
  public Connection connect() throws SQLException {
    return DriverManager.getConnection(jdbcUrl(), user(), password());
  }

  @Override
  boolean answers() {
    try (Connection connection = connect()) {
      return connection.isValid((int) ANSWER_LIMIT.toSeconds());
    } catch (SQLException e) {
      return false;
    }
  }
}
