// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.Deadline;
import io.millrace.operators.window.SliceTables.ChangesConsumer;
import io.millrace.operators.window.TimeWindow.Function;
import io.millrace.state.StateTable;
import io.millrace.state.row.RowRange;
import io.millrace.state.row.StateSchema;
import java.util.Collection;
import java.util.NavigableMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;

/**
 * Results of windows that have not fired. The state of a slice holds the rows that were emitted;
 * the rows that came since are a table of their own, the accumulators of which are combined with
 * the state when results are due. That gives the changes of a TUMBLE. Windows that share slices are
 * due together: the state of each is merged, and updated with what came since; then the state of
 * the slices is. A window that ends, and takes no further rows, emits before the others, which get
 * the same rows later. Nothing is held back behind a barrier, so that a checkpoint has what was
 * emitted, and only that.
 */
final class EarlyResults implements AutoCloseable {
  private static final int MAX_KEYS = 1 << 16;

  private final StateSchema schema;
  private final TimeWindow window;
  // Whether windows emit behind their end.
  private final boolean allowsLateness;
  private final SliceTables emitted;
  private final DeviceContext context;
  private final GpuRetry retry;
  private final ChangesConsumer consumer;
  private final long intervalMillis;
  private final ProcessingTimeService time;
  private final Deadline nextResults;
  // The rows of each slice since the last results.
  private final NavigableMap<Long, StateTable> pending = new TreeMap<>();
  // The slices of these of which a window has fired.
  private final SortedSet<Long> due = new TreeSet<>();
  // The table that may hold scratch memory; null if none does.
  private StateTable lastUpdated;

  /**
   * @param schema of the rows
   * @param emitted the state of each slice, of tables that take partials of {@code schema}; stays
   *     the caller's
   * @param consumer takes the changes of windows
   */
  EarlyResults(
      WindowAggregatePlan plan,
      StateSchema schema,
      SliceTables emitted,
      DeviceContext context,
      ProcessingTimeService time,
      ChangesConsumer consumer) {
    this.schema = schema;
    this.window = plan.window();
    this.allowsLateness = !plan.allowedLateness().isZero();
    this.emitted = emitted;
    this.context = context;
    this.retry = context.retry();
    this.consumer = consumer;
    this.intervalMillis = plan.earlyFiring().toMillis();
    this.time = time;
    this.nextResults = new Deadline(time, this::emitAll);
  }

  /**
   * Adds rows of a slice that is not late. Rows that do not fit the device are added in parts. Call
   * {@link #emitDue} behind the batch.
   */
  void add(long sliceEnd, Table rows) {
    // The state says which windows there are.
    emitted.forUpdate(sliceEnd);
    retry.withSplitAndRetry(rows, part -> accumulate(sliceEnd, part), table -> {});
    if (!emitted.firedWindowEnds(sliceEnd).isEmpty()) {
      due.add(sliceEnd);
    } else if (!nextResults.isSet()) {
      long now = time.getCurrentProcessingTime();
      nextResults.set(now, now + intervalMillis);
    }
  }

  private StateTable accumulate(long sliceEnd, Table rows) {
    StateTable table = pending.computeIfAbsent(sliceEnd, absent -> newTable());
    if (lastUpdated != null && lastUpdated != table) {
      lastUpdated.releaseScratch();
    }
    lastUpdated = table;
    table.accumulate(rows);
    return table;
  }

  private StateTable newTable() {
    return new StateTable(schema, context.stream(), context.resource());
  }

  /**
   * Emits what changed in windows that had fired when rows were added; and in all others, if they
   * share slices.
   */
  void emitDue() {
    if (sharesSlices() && !due.isEmpty()) {
      emitAll();
    } else {
      due.forEach(this::emitSlice);
    }
    due.clear();
  }

  /** Emits what changed in all windows. */
  void emitAll() {
    nextResults.clear();
    if (sharesSlices()) {
      emitWindows();
    }
    while (!pending.isEmpty()) {
      long sliceEnd = pending.firstKey();
      if (sharesSlices()) {
        forPartials(pending.get(sliceEnd), partials -> accumulatePartials(sliceEnd, partials));
        remove(sliceEnd);
      } else {
        emitSlice(sliceEnd);
      }
    }
  }

  /**
   * Emits what changed since its last results in a window that ends; and in all others, if they
   * share slices and the window may emit again.
   */
  void emit(long windowEnd) {
    if (sharesSlices() && allowsLateness) {
      emitAll();
    } else if (sharesSlices()) {
      emitWindow(windowEnd);
    } else if (pending.containsKey(windowEnd)) {
      emitSlice(windowEnd);
    }
  }

  /** Drops the rows of slices that are late: all windows with them have emitted them. */
  void dropLateSlices() {
    while (!pending.isEmpty() && emitted.isLate(pending.firstKey())) {
      remove(pending.firstKey());
    }
  }

  private boolean sharesSlices() {
    return window.function() != Function.TUMBLE;
  }

  private void emitSlice(long windowEnd) {
    forPartials(
        pending.get(windowEnd),
        partials -> update(() -> emitted.forUpdate(windowEnd), windowEnd, partials));
    remove(windowEnd);
  }

  private void emitWindows() {
    TreeSet<Long> windowEnds = new TreeSet<>();
    pending.keySet().forEach(sliceEnd -> windowEnds.addAll(emitted.openWindowEnds(sliceEnd)));
    windowEnds.forEach(this::emitWindow);
  }

  private void emitWindow(long windowEnd) {
    Collection<StateTable> since =
        pending.subMap(window.firstSliceEnd(windowEnd), true, windowEnd, true).values();
    if (since.size() == 1) {
      emitWindow(windowEnd, since.iterator().next());
    } else if (since.size() > 1) {
      // An update for each of them would give changes of changes.
      try (StateTable all = retry.withRetry(() -> SliceTables.merge(since, newTable()))) {
        emitWindow(windowEnd, all);
      }
    }
  }

  private void emitWindow(long windowEnd, StateTable since) {
    try (StateTable before = emitted.merged(windowEnd)) {
      forPartials(since, partials -> update(() -> before, windowEnd, partials));
    }
  }

  // Closes the partials behind the consumer.
  private void forPartials(StateTable rows, Consumer<Table> partialsConsumer) {
    for (long row = 0; row < rows.rowCount(); row += MAX_KEYS) {
      int count = (int) Math.min(rows.rowCount() - row, MAX_KEYS);
      retry.withSplitAndRetry(
          new RowRange(row, count),
          range -> rows.partials(range.first(), range.count()),
          partials -> {
            try (partials) {
              partialsConsumer.accept(partials);
            }
          });
      context.checkNotCanceled();
    }
  }

  private void update(Supplier<StateTable> table, long windowEnd, Table partials) {
    retry.withSplitAndRetry(
        partials, part -> table.get().update(part), changes -> consumer.accept(windowEnd, changes));
  }

  private void accumulatePartials(long sliceEnd, Table partials) {
    retry.withSplitAndRetry(
        partials,
        part -> {
          StateTable table = emitted.forUpdate(sliceEnd);
          table.accumulate(part);
          return table;
        },
        table -> {});
  }

  private void remove(long sliceEnd) {
    StateTable rows = pending.remove(sliceEnd);
    lastUpdated = lastUpdated == rows ? null : lastUpdated;
    rows.close();
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(nextResults::close);
    pending.values().forEach(table -> failure.run(table::close));
    failure.rethrow();
  }
}
