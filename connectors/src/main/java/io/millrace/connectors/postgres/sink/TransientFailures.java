// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import org.apache.flink.util.clock.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats work that failed for a passing reason: the database restarts, the connection breaks, or
 * transactions conflict. Used by one thread.
 */
final class TransientFailures {
  private static final Logger LOG = LoggerFactory.getLogger(TransientFailures.class);
  private static final long FIRST_WAIT_MILLIS = 50;
  private static final long MAX_WAIT_MILLIS = 2000;

  private final Duration limit;
  private final Clock clock;

  /**
   * @param limit no attempt begins later than this after the first
   */
  TransientFailures(Duration limit, Clock clock) {
    this.limit = limit;
    this.clock = clock;
  }

  /**
   * A piece of work that may be done more than once.
   *
   * @param <T> its result
   */
  @FunctionalInterface
  interface Work<T> {
    T run() throws SQLException;
  }

  /** Whether the same work may succeed later. */
  static boolean isTransient(SQLException failure) {
    String state = failure.getSQLState();
    return state != null
        && (state.startsWith("08") // connection exceptions
            || state.startsWith("57P0") // shut down, crashed, starting up
            || state.equals("40001") // serialization failure
            || state.equals("40P01") // deadlock
            || state.equals("53300")); // too many connections
  }

  /**
   * Does {@code work}, again and again with longer waits while it fails for a passing reason.
   *
   * @param what is done, for messages
   * @param recover done before each further attempt, such as closing the connection
   * @throws IOException with the last failure, if it will not pass or the time is over
   */
  <T> T repeat(String what, Work<T> work, Runnable recover)
      throws IOException, InterruptedException {
    long start = clock.relativeTimeMillis();
    long wait = FIRST_WAIT_MILLIS;
    while (true) {
      try {
        return work.run();
      } catch (SQLException e) {
        recover.run();
        boolean isOver = clock.relativeTimeMillis() - start + wait > limit.toMillis();
        if (isOver || !isTransient(e)) {
          throw new IOException("PostgreSQL: " + what + " failed: " + e.getMessage(), e);
        }
        LOG.warn("PostgreSQL: {} failed, and is repeated: {}", what, e.getMessage());
      }
      Thread.sleep(wait);
      wait = Math.min(MAX_WAIT_MILLIS, wait * 2);
    }
  }
}
