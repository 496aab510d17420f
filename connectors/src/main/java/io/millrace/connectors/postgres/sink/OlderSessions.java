// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import org.apache.flink.util.clock.Clock;

/**
 * Ends sessions of earlier attempts of a writer, which may still run: in a process that the cluster
 * has lost sight of, or on a connection of which the database does not know yet that it broke.
 */
final class OlderSessions {
  private static final long POLL_MILLIS = 10;
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String TERMINATE =
      """
      SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
      WHERE application_name = ANY (?) AND pid <> pg_backend_pid()
          AND datname = current_database() AND usename = current_user""";

  private OlderSessions() {}

  /** What the database shows as the application of a writer's session; at most 63 bytes. */
  static String applicationName(String sinkId, int subtask) {
    return "millrace sink " + sinkId + " " + subtask;
  }

  /**
   * Ends the sessions, and returns when they have ended: their transactions are over by then.
   *
   * @param connection of the writer, whose own session stays
   * @throws SQLException if they have not ended after 30 seconds
   */
  static void terminate(Connection connection, String sinkId, Set<Integer> subtasks, Clock clock)
      throws SQLException, InterruptedException {
    String[] names =
        subtasks.stream().map(subtask -> applicationName(sinkId, subtask)).toArray(String[]::new);
    long start = clock.relativeTimeMillis();
    try (PreparedStatement statement = connection.prepareStatement(TERMINATE)) {
      statement.setArray(1, connection.createArrayOf("text", names));
      while (terminate(statement) > 0) {
        if (clock.relativeTimeMillis() - start > LIMIT.toMillis()) {
          throw new SQLException(
              "older sessions of the sink do not end: " + String.join(", ", names));
        }
        Thread.sleep(POLL_MILLIS);
      }
    }
  }

  private static int terminate(PreparedStatement statement) throws SQLException {
    try (ResultSet rows = statement.executeQuery()) {
      rows.next();
      return rows.getInt(1);
    }
  }
}
