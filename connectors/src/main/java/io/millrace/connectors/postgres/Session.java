// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import org.apache.flink.annotation.Internal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that is opened when it is needed, and again behind {@link #close}. Used by one
 * thread.
 */
@Internal
public final class Session implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Session.class);

  private final PostgresConnectionOptions options;
  private final String applicationName;
  private final Preparation preparation;
  // null if none is open.
  private Connection connection;

  /** What is done with each new connection. */
  @FunctionalInterface
  public interface Preparation {
    void prepare(Connection connection) throws SQLException;
  }

  public Session(
      PostgresConnectionOptions options, String applicationName, Preparation preparation) {
    this.options = options;
    this.applicationName = applicationName;
    this.preparation = preparation;
  }

  /** The connection, which this closes. */
  public Connection connection() throws SQLException {
    if (connection == null) {
      connection = options.connect(applicationName);
      try {
        preparation.prepare(connection);
      } catch (SQLException | RuntimeException e) {
        close();
        throw e;
      }
    }
    return connection;
  }

  /**
   * Ends the connection, and with it an open transaction. Does not fail: Flink ends the process of
   * a task that cannot be closed.
   */
  @Override
  public void close() {
    Connection closed = connection;
    connection = null;
    if (closed != null) {
      try {
        closed.close();
      } catch (SQLException e) {
        LOG.debug("PostgreSQL: a broken connection could not be closed", e);
      }
    }
  }
}
