// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.metrics.groups.OperatorMetricGroup;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.runtime.tasks.StreamTask;

/**
 * Makes Flink's {@code numRecordsIn} or {@code numRecordsOut} of an operator and its task count the
 * rows of batches, and counts the batches as {@code numBatchesIn} or {@code numBatchesOut}.
 *
 * <p>Never waits for the device. If only the device knows the row count of a batch, its rows are
 * counted when a later batch is counted or when this is closed, provided that the host knows the
 * row count by then. Used by one thread.
 */
@Internal
public final class RowCounter implements AutoCloseable {
  // Flink itself counts each batch as one record.
  private final List<Counter> records;
  private final Counter batches;
  // Tables without columns, which hold no more than a row count.
  private final Deque<Table> unknown = new ArrayDeque<>();

  RowCounter(List<Counter> records, Counter batches) {
    this.records = List.copyOf(records);
    this.batches = batches;
  }

  /** Counts the rows of the batches that {@code operator} receives. */
  public static RowCounter ofInput(AbstractStreamOperator<?> operator) {
    OperatorMetricGroup metrics = operator.getMetricGroup();
    return new RowCounter(
        List.of(metrics.getIOMetricGroup().getNumRecordsInCounter()),
        metrics.counter("numBatchesIn"));
  }

  /** Counts the rows of the batches that {@code operator} sends. */
  public static RowCounter ofOutput(AbstractStreamOperator<?> operator) {
    OperatorMetricGroup metrics = operator.getMetricGroup();
    List<Counter> records = new ArrayList<>();
    records.add(metrics.getIOMetricGroup().getNumRecordsOutCounter());
    StreamTask<?, ?> task = operator.getContainingTask();
    if (!operator
        .getOperatorConfig()
        .getOperatorNonChainedOutputs(task.getUserCodeClassLoader())
        .isEmpty()) {
      // The records that a task sends have a counter of their own; the records that it receives
      // are counted by its first operator's counter.
      Counter ofTask = new SimpleCounter();
      task.getEnvironment().getMetricGroup().getIOMetricGroup().reuseRecordsOutputCounter(ofTask);
      records.add(ofTask);
    }
    return new RowCounter(records, metrics.counter("numBatchesOut"));
  }

  /** Counts a batch of {@code table}. The caller keeps ownership of the table. */
  public void count(Table table) {
    batches.inc();
    countKnown();
    if (table.isRowCountKnown()) {
      add(table.rowCount());
    } else {
      unknown.add(table.withColumns(new Schema(List.of()), List.of()));
    }
  }

  /** Counts a batch of {@code rows} rows. */
  public void count(int rows) {
    batches.inc();
    add(rows);
  }

  private void add(int rows) {
    records.forEach(counter -> counter.inc(rows - 1L));
  }

  private void countKnown() {
    while (!unknown.isEmpty() && unknown.peek().isRowCountKnown()) {
      try (Table table = unknown.remove()) {
        add(table.rowCount());
      }
    }
  }

  /** Counts the rows of batches whose row count is known by now; drops the other batches. */
  @Override
  public void close() {
    countKnown();
    while (!unknown.isEmpty()) {
      unknown.remove().close();
    }
  }
}
