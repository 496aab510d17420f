// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.AccessScope;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.process.ProcessPlan.Steps;
import io.millrace.state.StateTable;
import io.millrace.state.lookup.StateLookup;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The timers of a slice that were set when it was read: their rows on the device, their times and
 * the numbers of their keys on the host. Those that were taken since are left out.
 */
final class SliceTimers implements AutoCloseable {
  static final long NONE = Long.MAX_VALUE;

  private static final int MAX_TIMERS = 1 << 16;

  private final Table rows;
  private final long[] times;
  private final int[] keys;
  // The rows in the order of time.
  private final int[] order;
  private final BitSet taken = new BitSet();

  private SliceTimers(Table rows, long[] times, int[] keys) {
    this.rows = rows;
    this.times = times;
    this.keys = keys;
    this.order =
        IntStream.range(0, times.length)
            .boxed()
            .sorted(Comparator.comparingLong(row -> times[row]))
            .mapToInt(Integer::intValue)
            .toArray();
  }

  /**
   * Makes one attempt.
   *
   * @param slice whose timers are read
   */
  static SliceTimers read(
      StateTable slice,
      Steps steps,
      StateLookup lookup,
      HostNumbers numbers,
      DeviceContext context) {
    int count = Math.toIntExact(slice.rowCount());
    try (Table all = slice.values(0, count, List.of());
        Table set = steps.timers().set().apply(all, context.stream(), context.resource())) {
      if (set.rowCount() == 0) {
        return new SliceTimers(set.share(), new long[0], new int[0]);
      }
      try (StateTable groups =
              new StateTable(steps.groups(), context.stream(), context.resource());
          Table keys = steps.timers().keys().apply(set, context.stream(), context.resource())) {
        groups.accumulate(keys);
        try (Column keyNumbers = lookup.rows(groups, keys, DataType.INT32);
            Table times = set.select(List.of(ProcessPlan.TIMER));
            Table hostTimes = numbers.toHost(times);
            Table hostKeys = numbers.toHost(keyNumbers);
            AccessScope scope = AccessScope.on(context.hostStream())) {
          ColumnReader time = new ColumnReader(hostTimes.column(0), scope);
          ColumnReader key = new ColumnReader(hostKeys.column(0), scope);
          return new SliceTimers(
              set.share(),
              IntStream.range(0, time.size()).mapToLong(time::getLong).toArray(),
              IntStream.range(0, key.size()).map(key::getInt).toArray());
        }
      }
    }
  }

  /**
   * Timers that are due, at most one of each key.
   *
   * @param rows in the order of time
   * @param lastTime of these timers
   * @param otherTime the earliest time of the timers that stay; {@link #NONE} if none does
   */
  record Choice(List<Integer> rows, long lastTime, long otherTime, boolean hasOthers) {}

  /** The first timer of each key that is due; of many keys those with the earliest timers. */
  Choice choose(long now) {
    List<Integer> chosen = new ArrayList<>();
    BitSet known = new BitSet();
    long lastTime = Long.MIN_VALUE;
    long otherTime = NONE;
    boolean hasOthers = false;
    for (int row : order) {
      if (taken.get(row)) {
        continue;
      }
      if (times[row] <= now && chosen.size() < MAX_TIMERS && !known.get(keys[row])) {
        known.set(keys[row]);
        chosen.add(row);
        lastTime = times[row];
      } else {
        otherTime = Math.min(otherTime, times[row]);
        hasOthers = true;
      }
    }
    return new Choice(chosen, lastTime, otherTime, hasOthers);
  }

  /** A copy of chosen timers, which the caller closes. Makes one attempt. */
  Table gather(Choice choice, HostNumbers numbers, DeviceContext context) {
    try (Column map = numbers.upload(choice.rows())) {
      return Gather.gather(rows, map, context.stream(), context.resource());
    }
  }

  /** Leaves timers out from now on. */
  void taken(Choice choice) {
    choice.rows().forEach(taken::set);
  }

  @Override
  public void close() {
    rows.close();
  }
}
