// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import io.millrace.column.Schema;
import io.millrace.connectors.postgres.Session;
import io.millrace.connectors.postgres.TargetTable;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.metrics.groups.SinkWriterMetricGroup;
import org.apache.flink.util.clock.Clock;

/** Brings each batch into its target in a transaction of its own, by way of a temporary table. */
final class UpsertWriter implements SinkWriter<byte[]> {
  private static final String ROWS = "pg_temp.millrace_rows";
  private static final String CREATE = "CREATE TEMPORARY TABLE";

  private final PostgresSinkOptions options;
  private final Session session;
  private final MergeStatements statements;
  private final SinkWriterMetricGroup metrics;
  private final CopyStream copy;
  private final TransientFailures failures;
  private final Clock clock;
  private volatile long lastSendMillis;

  UpsertWriter(
      PostgresSinkOptions options,
      Schema schema,
      MergeStatements statements,
      SinkWriterMetricGroup metrics,
      Clock clock) {
    this.options = options;
    this.session =
        new Session(
            options.connection(),
            "millrace upsert",
            connection -> prepare(connection, options, schema, statements));
    this.statements = statements;
    this.metrics = metrics;
    this.copy = new CopyStream(schema);
    this.failures = new TransientFailures(options.retryTimeout(), clock);
    this.clock = clock;
    metrics.setCurrentSendTimeGauge(() -> lastSendMillis);
  }

  @Override
  public void write(byte[] rows, Context context) throws IOException, InterruptedException {
    long start = clock.relativeTimeMillis();
    long sent =
        failures.repeat("writing to " + options.table(), () -> transaction(rows), session::close);
    metrics.getNumRecordsSendCounter().inc(sent);
    metrics.getNumBytesSendCounter().inc(rows.length);
    lastSendMillis = clock.relativeTimeMillis() - start;
  }

  private long transaction(byte[] rows) throws SQLException {
    Connection connection = session.connection();
    long sent = copy.send(connection, statements.copy(ROWS), rows);
    try (Statement statement = connection.createStatement()) {
      for (String step : statements.merge(ROWS)) {
        statement.executeUpdate(step);
      }
    }
    connection.commit();
    return sent;
  }

  private static void prepare(
      Connection connection, PostgresSinkOptions options, Schema schema, MergeStatements statements)
      throws SQLException {
    String create =
        statements.create(
            CREATE,
            ROWS,
            TargetTable.definitions(connection, options.table(), schema, options.keys()));
    try (Statement statement = connection.createStatement()) {
      statement.execute(create + " ON COMMIT DELETE ROWS");
    }
    connection.setAutoCommit(false);
  }

  /** Rows are in their target when they are written. */
  @Override
  public void flush(boolean endOfInput) {}

  @Override
  public void close() {
    session.close();
  }
}
