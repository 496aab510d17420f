// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.StateTables;
import io.millrace.operators.transfer.Deadline;
import io.millrace.operators.window.SliceTables.ChangesConsumer;
import io.millrace.state.StateTable;
import io.millrace.state.row.StateSchema;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;

/**
 * Results of windows that have not fired. The state of a window holds the rows that were emitted;
 * the rows that came since are a table of their own, the accumulators of which are combined with
 * the state when results are due. That gives the changes. Nothing is held back behind a barrier, so
 * that a checkpoint has what was emitted, and only that.
 */
final class EarlyResults implements AutoCloseable {
  private static final int MAX_KEYS = 1 << 16;

  private final StateSchema schema;
  private final StateTables emitted;
  private final DeviceContext context;
  private final ChangesConsumer consumer;
  private final long intervalMillis;
  private final ProcessingTimeService time;
  private final Deadline nextResults;
  // The rows of each window since its last results.
  private final NavigableMap<Long, StateTable> pending = new TreeMap<>();
  // The table that may hold scratch memory; null if none does.
  private StateTable lastUpdated;

  /**
   * @param schema of the rows
   * @param emitted the state of each window, of tables that take partials of {@code schema}; stays
   *     the caller's
   * @param consumer takes the changes of windows
   */
  EarlyResults(
      WindowAggregatePlan plan,
      StateSchema schema,
      StateTables emitted,
      DeviceContext context,
      ProcessingTimeService time,
      ChangesConsumer consumer) {
    this.schema = schema;
    this.emitted = emitted;
    this.context = context;
    this.consumer = consumer;
    this.intervalMillis = plan.earlyFiring().toMillis();
    this.time = time;
    this.nextResults = new Deadline(time, this::emitAll);
  }

  /**
   * Adds rows of a window. Rows that do not fit the device are added in parts.
   *
   * @param isDue whether the changes are emitted at once, because the window has fired
   */
  void add(long windowEnd, Table rows, boolean isDue) {
    // The state says which windows there are.
    emitted.forUpdate(windowEnd);
    context.retry().withSplitAndRetry(rows, part -> accumulate(windowEnd, part), table -> {});
    if (isDue) {
      emit(windowEnd);
    } else if (!nextResults.isSet()) {
      long now = time.getCurrentProcessingTime();
      nextResults.set(now, now + intervalMillis);
    }
  }

  private StateTable accumulate(long windowEnd, Table rows) {
    StateTable table =
        pending.computeIfAbsent(
            windowEnd, absent -> new StateTable(schema, context.stream(), context.resource()));
    if (lastUpdated != null && lastUpdated != table) {
      lastUpdated.releaseScratch();
    }
    lastUpdated = table;
    table.accumulate(rows);
    return table;
  }

  /** Emits what changed in all windows. */
  void emitAll() {
    nextResults.clear();
    while (!pending.isEmpty()) {
      emit(pending.firstKey());
    }
  }

  /** Emits what changed in a window since its last results. */
  void emit(long windowEnd) {
    StateTable rows = pending.get(windowEnd);
    if (rows == null) {
      return;
    }
    for (long row = 0; row < rows.rowCount(); row += MAX_KEYS) {
      int count = (int) Math.min(rows.rowCount() - row, MAX_KEYS);
      context
          .retry()
          .withSplitAndRetry(
              new RowRange(row, count),
              range -> rows.partials(range.first(), range.count()),
              partials -> update(windowEnd, partials));
      context.checkNotCanceled();
    }
    pending.remove(windowEnd);
    lastUpdated = lastUpdated == rows ? null : lastUpdated;
    rows.close();
  }

  private void update(long windowEnd, Table partials) {
    try (partials) {
      context
          .retry()
          .withSplitAndRetry(
              partials,
              part -> emitted.forUpdate(windowEnd).update(part),
              changes -> consumer.accept(windowEnd, changes));
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(nextResults::close);
    pending.values().forEach(table -> failure.run(table::close));
    failure.rethrow();
  }
}
