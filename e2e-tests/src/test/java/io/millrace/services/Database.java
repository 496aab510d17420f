// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import io.millrace.process.Await;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;

/**
 * A PostgreSQL server on 127.0.0.1 with an empty database. Its address and its data stay the same
 * until it is closed. Connections may be used by any thread; the server is started, paused and
 * killed by one.
 */
public final class Database implements AutoCloseable {
  /** Transactions that may be prepared for a commit in two phases at the same time. */
  static final int MAX_PREPARED_TRANSACTIONS = 64;

  /** The name of the database, of its owner and superuser, and the password. */
  static final String NAME = "test";

  private static final Duration ANSWER_LIMIT = Duration.ofMinutes(2);

  private final Server server;
  private final String jdbcUrl;

  Database(Server server, int port) {
    this.server = server;
    this.jdbcUrl = "jdbc:postgresql://127.0.0.1:" + port + "/" + NAME;
  }

  public String jdbcUrl() {
    return jdbcUrl;
  }

  public String user() {
    return NAME;
  }

  public String password() {
    return NAME;
  }

  /** A new connection, in auto-commit mode. */
  public Connection connect() throws SQLException {
    return DriverManager.getConnection(jdbcUrl(), user(), password());
  }

  /**
   * Starts the server, for the first time or after {@link #kill}, and returns when it answers.
   *
   * @throws AssertionError if it ends, or does not answer within two minutes; the message has the
   *     tail of its log
   */
  public void start() throws Exception {
    server.start();
    Await.until("PostgreSQL answers", ANSWER_LIMIT, this::answers, server::diagnosis);
  }

  private boolean answers() {
    if (!server.isRunning()) {
      throw new AssertionError("PostgreSQL ended before it answered\n" + server.diagnosis());
    }
    try (Connection connection = connect()) {
      return connection.isValid((int) ANSWER_LIMIT.toSeconds());
    } catch (SQLException e) {
      return false;
    }
  }

  /** Stops all that the server does; connections to it stay open. */
  public void pause() throws Exception {
    server.pause();
  }

  /** Ends {@link #pause}. */
  public void resume() throws Exception {
    server.resume();
  }

  /** Ends the server with SIGKILL, paused or not; {@link #start} starts it again with its data. */
  public void kill() throws Exception {
    server.kill();
  }

  /** State and last lines of the log, for the message of an error. */
  public String diagnosis() {
    return server.diagnosis();
  }

  /** Ends the server, in whatever state it is, and removes its data. Idempotent. */
  @Override
  public void close() throws IOException {
    server.close();
  }
}
