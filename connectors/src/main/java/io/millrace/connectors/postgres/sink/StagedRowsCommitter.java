// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import io.millrace.connectors.postgres.Session;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import java.util.OptionalLong;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.groups.SinkCommitterMetricGroup;
import org.apache.flink.util.clock.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings staged rows into the target when their checkpoint is complete. One transaction does it,
 * drops the table of staged rows, and notes its number, so that a repeated commit finds that there
 * is nothing to do.
 */
final class StagedRowsCommitter implements Committer<StagedRows> {
  private static final Logger LOG = LoggerFactory.getLogger(StagedRowsCommitter.class);

  private final PostgresSinkOptions options;
  private final Session session;
  private final WriterRegistry registry;
  private final MergeStatements statements;
  private final TransientFailures failures;
  private final Clock clock;
  private final Counter changedRows;
  private final Counter commits;
  private volatile long lastCommitMillis;

  StagedRowsCommitter(
      PostgresSinkOptions options,
      MergeStatements statements,
      SinkCommitterMetricGroup metrics,
      Clock clock) {
    this.options = options;
    this.session =
        new Session(
            options.connection(),
            "millrace commit " + options.sinkId(),
            connection -> connection.setAutoCommit(false));
    this.registry = new WriterRegistry(options);
    this.statements = statements;
    this.failures = new TransientFailures(options.retryTimeout(), clock);
    this.clock = clock;
    this.changedRows = metrics.counter("changedRows");
    this.commits = metrics.counter("commits");
    metrics.gauge("lastCommitMillis", () -> lastCommitMillis);
  }

  @Override
  public void commit(Collection<CommitRequest<StagedRows>> requests)
      throws IOException, InterruptedException {
    for (CommitRequest<StagedRows> request : requests) {
      StagedRows staged = request.getCommittable();
      long start = clock.relativeTimeMillis();
      if (staged.hasRows()
          && !failures.repeat(
              "the commit to " + options.table(), () -> commit(staged), session::close)) {
        request.signalAlreadyCommitted();
      }
      if (!staged.leftovers().isEmpty()) {
        failures.repeat("dropping staged rows", () -> drop(staged), session::close);
      }
      lastCommitMillis = clock.relativeTimeMillis() - start;
    }
  }

  /** Returns false if the rows were committed before. */
  private boolean commit(StagedRows staged) throws SQLException {
    Connection connection = session.connection();
    OptionalLong committed = registry.lockCommitted(connection, staged.writer());
    if (committed.isEmpty()) {
      throw new SQLException(
          "there is no row for the writer " + staged.writer() + " in " + registry);
    }
    if (committed.getAsLong() >= staged.sequence()) {
      connection.rollback();
      LOG.info("PostgreSQL: rows {} were committed before", staged);
      return false;
    }
    String table = registry.staged(staged.writer(), staged.sequence()).sql();
    long changed = 0;
    try (Statement statement = connection.createStatement()) {
      for (String step : statements.merge(table)) {
        changed += statement.executeLargeUpdate(step);
      }
      statement.execute("DROP TABLE " + table);
    }
    registry.setCommitted(connection, staged.writer(), staged.sequence());
    connection.commit();
    changedRows.inc(changed);
    commits.inc();
    return true;
  }

  private Void drop(StagedRows staged) throws SQLException {
    Connection connection = session.connection();
    try (Statement statement = connection.createStatement()) {
      for (String leftover : staged.leftovers()) {
        statement.execute("DROP TABLE IF EXISTS " + options.stagingTable(leftover).sql());
      }
    }
    connection.commit();
    return null;
  }

  @Override
  public void close() {
    session.close();
  }
}
