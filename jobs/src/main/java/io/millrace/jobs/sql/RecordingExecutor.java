// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.sql;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.SqlParserEOFException;
import org.apache.flink.table.client.gateway.Executor;
import org.apache.flink.table.client.gateway.StatementResult;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.CloseableIterator;

/** Notes whether a statement failed: Flink's client prints that, and ends like after a success. */
final class RecordingExecutor implements Executor {
  private final Executor executor;
  private volatile boolean failed;
  // The last statement has no end yet.
  private boolean isIncomplete;

  RecordingExecutor(Executor executor) {
    this.executor = executor;
  }

  boolean hasFailed() {
    return failed || isIncomplete;
  }

  @Override
  public StatementResult executeStatement(String statement) {
    StatementResult result = recorded(() -> executor.executeStatement(statement));
    isIncomplete = false;
    return new StatementResult(
        result.getResultSchema(),
        new RecordedRows(result),
        result.isQueryResult(),
        result.getResultKind(),
        result.getJobId(),
        result.getRowDataToStringConverter());
  }

  private <T> T recorded(Supplier<T> step) {
    try {
      return step.get();
    } catch (RuntimeException e) {
      // The client tries each line of a statement that may end there.
      isIncomplete = e.getCause() instanceof SqlParserEOFException;
      failed |= !isIncomplete;
      throw e;
    }
  }

  /** The rows of a query, which may fail while it gives them. */
  private final class RecordedRows implements CloseableIterator<RowData> {
    private final StatementResult rows;

    private RecordedRows(StatementResult rows) {
      this.rows = rows;
    }

    @Override
    public boolean hasNext() {
      return recorded(rows::hasNext);
    }

    @Override
    public RowData next() {
      return recorded(rows::next);
    }

    @Override
    public void close() {
      rows.close();
    }
  }

  @Override
  public void configureSession(String statement) {
    executor.configureSession(statement);
  }

  @Override
  public ReadableConfig getSessionConfig() {
    return executor.getSessionConfig();
  }

  @Override
  public Map<String, String> getSessionConfigMap() {
    return executor.getSessionConfigMap();
  }

  @Override
  public List<String> completeStatement(String statement, int position) {
    return executor.completeStatement(statement, position);
  }

  @Override
  public String deployScript(String script, URI uri) {
    return executor.deployScript(script, uri);
  }

  @Override
  public void close() {
    executor.close();
  }
}
