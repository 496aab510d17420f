// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.Table;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.AccessScope;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.context.DeviceContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The timers of a {@link KeyedResult}, by the slices that they are in.
 *
 * @param updates what the tables of slices are updated with
 * @param earliest the earliest timer of each slice that is set or deleted
 */
record TimerChanges(Map<Long, Table> updates, Map<Long, Long> earliest) implements AutoCloseable {
  static final TimerChanges NONE = new TimerChanges(Map.of(), Map.of());

  /**
   * Makes one attempt.
   *
   * @param timers of {@link KeyedResult#TIMERS}; stays the caller's
   * @param keys the key columns of the batch's keys; stays the caller's
   * @throws IllegalStateException if there is no such key
   */
  static TimerChanges of(
      Table timers,
      Table keys,
      ProcessPlan plan,
      ProcessPlan.Timers steps,
      TimerSlices slices,
      HostNumbers numbers,
      DeviceContext context) {
    Map<Long, List<Integer>> rows = new TreeMap<>();
    Map<Long, Long> earliest = new TreeMap<>();
    try (Table host = numbers.toHost(timers);
        AccessScope scope = AccessScope.on(context.hostStream())) {
      ColumnReader key = new ColumnReader(host.column("key"), scope);
      ColumnReader time = new ColumnReader(host.column("time"), scope);
      ColumnReader isProcessingTime = new ColumnReader(host.column("is_processing_time"), scope);
      for (int row = 0; row < host.rowCount(); row++) {
        checkKey(key.getInt(row), keys.rowCount());
        long slice = slices.namespace(time.getLong(row), isProcessingTime.getBoolean(row));
        rows.computeIfAbsent(slice, absent -> new ArrayList<>()).add(row);
        earliest.merge(slice, time.getLong(row), Math::min);
      }
    }
    if (rows.isEmpty()) {
      return NONE;
    }
    List<Integer> order = rows.values().stream().flatMap(List::stream).toList();
    try (Table all = updates(timers, keys, plan, steps, context);
        Column map = numbers.upload(order);
        Table sorted = Gather.gather(all, map, context.stream(), context.resource())) {
      return new TimerChanges(slices(sorted, rows), earliest);
    }
  }

  private static Map<Long, Table> slices(Table sorted, Map<Long, List<Integer>> rows) {
    Map<Long, Table> slices = new TreeMap<>();
    int first = 0;
    for (Map.Entry<Long, List<Integer>> slice : rows.entrySet()) {
      int count = slice.getValue().size();
      slices.put(slice.getKey(), sorted.slice(first, count));
      first += count;
    }
    return slices;
  }

  private static void checkKey(int key, int keys) {
    if (key < 0 || key >= keys) {
      throw new IllegalStateException(
          "expected the number of one of the " + keys + " keys for a timer, got " + key);
    }
  }

  private static Table updates(
      Table timers, Table keys, ProcessPlan plan, ProcessPlan.Timers steps, DeviceContext context) {
    try (Table repeated =
        Gather.gatherRepeated(keys, timers.column("key"), context.stream(), context.resource())) {
      List<Column> columns = new ArrayList<>();
      repeated.columns().forEach(column -> columns.add(column.share()));
      columns.add(timers.column("time").share());
      columns.add(timers.column("is_set").share());
      try (Table named = new Table(plan.timerChanges(), columns, timers.rowCount())) {
        return steps.updates().apply(named, context.stream(), context.resource());
      }
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    updates.values().forEach(table -> failure.run(table::close));
    failure.rethrow();
  }
}
