// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.sink;

import io.millrace.column.Schema;
import io.millrace.connectors.postgres.Session;
import io.millrace.connectors.postgres.TargetTable;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.connector.sink2.CommittingSinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.metrics.Counter;
import org.apache.flink.util.clock.Clock;

/**
 * Copies batches to a table of staged rows, a new one for each checkpoint, in one transaction that
 * is committed when the checkpoint begins. A failure of the connection fails the task, which then
 * repeats the rows.
 */
final class StagingWriter
    implements StatefulSinkWriter<byte[], WriterPosition>,
        CommittingSinkWriter<byte[], StagedRows> {
  private final String name;
  private final WriterRegistry registry;
  private final MergeStatements statements;
  private final CopyStream copy;
  private final Session session;
  private final Connection connection;
  private final Counter sentRows;
  private final Counter sentBytes;
  private List<String> definitions;
  // Until the first checkpoint has them.
  private List<String> leftovers;
  private long next;
  private boolean isOpen;

  /**
   * Connects, ends older writers of the subtask, and looks for what they left.
   *
   * @param name of this writer, which no other has: 16 letters and digits
   * @param restored the positions of earlier writers
   * @throws IllegalArgumentException if the stream does not fit the table
   */
  StagingWriter(
      PostgresSinkOptions options,
      Schema schema,
      MergeStatements statements,
      String name,
      Collection<WriterPosition> restored,
      WriterInitContext context,
      Clock clock)
      throws IOException {
    this.name = name;
    this.registry = new WriterRegistry(options);
    this.statements = statements;
    this.copy = new CopyStream(schema);
    this.sentRows = context.metricGroup().getNumRecordsSendCounter();
    this.sentBytes = context.metricGroup().getNumBytesSendCounter();
    TaskInfo task = context.getTaskInfo();
    String application =
        OlderSessions.applicationName(options.sinkId(), task.getIndexOfThisSubtask());
    long checkpoint = context.getRestoredCheckpointId().orElse(0);
    this.session = new Session(options.connection(), application, opened -> {});
    try {
      this.connection =
          new TransientFailures(options.retryTimeout(), clock)
              .repeat("connecting to " + options.connection(), session::connection, () -> {});
      try {
        begin(options, schema, restored, task, checkpoint, clock);
      } catch (SQLException | RuntimeException | InterruptedException e) {
        session.close();
        throw e;
      }
    } catch (SQLException e) {
      throw new IOException("PostgreSQL: the sink cannot start: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the sink started", e);
    }
  }

  private void begin(
      PostgresSinkOptions options,
      Schema schema,
      Collection<WriterPosition> restored,
      TaskInfo task,
      long checkpoint,
      Clock clock)
      throws SQLException, InterruptedException {
    int subtask = task.getIndexOfThisSubtask();
    int parallelism = task.getNumberOfParallelSubtasks();
    definitions = TargetTable.definitions(connection, options.table(), schema, options.keys());
    registry.add(connection, name, subtask, checkpoint);
    OlderSessions.terminate(
        connection, options.sinkId(), registry.subtasks(connection, subtask, parallelism), clock);
    leftovers = registry.leftovers(connection, subtask, parallelism, checkpoint, restored);
    connection.setAutoCommit(false);
  }

  @Override
  public void write(byte[] rows, Context context) throws IOException {
    try {
      String table = registry.staged(name, next).sql();
      if (!isOpen) {
        try (Statement statement = connection.createStatement()) {
          statement.execute(statements.create("CREATE TABLE", table, definitions));
        }
        isOpen = true;
      }
      sentRows.inc(copy.send(connection, statements.copy(table), rows));
      sentBytes.inc(rows.length);
    } catch (SQLException e) {
      throw new IOException("PostgreSQL: rows cannot be staged: " + e.getMessage(), e);
    }
  }

  /** Rows reach the database when they are written. */
  @Override
  public void flush(boolean endOfInput) {}

  @Override
  public Collection<StagedRows> prepareCommit() throws IOException {
    List<String> handedOver = leftovers;
    leftovers = List.of();
    if (!isOpen) {
      return handedOver.isEmpty()
          ? List.of()
          : List.of(new StagedRows(name, StagedRows.NO_ROWS, handedOver));
    }
    try {
      connection.commit();
    } catch (SQLException e) {
      throw new IOException("PostgreSQL: staged rows cannot be kept: " + e.getMessage(), e);
    }
    isOpen = false;
    return List.of(new StagedRows(name, next++, handedOver));
  }

  @Override
  public List<WriterPosition> snapshotState(long checkpointId) {
    return List.of(new WriterPosition(name, next));
  }

  /** Drops the rows since the last checkpoint. */
  @Override
  public void close() {
    session.close();
  }
}
