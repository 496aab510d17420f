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
import io.millrace.operators.state.StateTables;
import io.millrace.state.StateTable;
import io.millrace.state.lookup.StateLookup;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.flink.streaming.api.TimeDomain;

/**
 * The timers that are set: a state table for each slice of time and domain, with a row for each key
 * and time. The namespace of a table is the beginning of its slice, which is a multiple of 4, and 1
 * for event time or 2 for processing time, so that it is never that of the values.
 */
final class TimerSlices {
  /** Slices are as wide as a multiple of so many milliseconds. */
  static final long ALIGNMENT = 4;

  private static final int MAX_TIMERS = 1 << 16;
  private static final long NONE = Long.MAX_VALUE;

  private final long width;
  private final Steps steps;
  private final StateTables tables;
  private final DeviceContext context;
  private final HostNumbers numbers;
  private final StateLookup lookup;
  // For each slice a time before which none of its timers is.
  private final NavigableMap<Long, Long> earliest = new TreeMap<>();

  /** Timers that are due, at most one of each key, in the order of time. */
  record Due(Table timers, long lastTime) {}

  // The rows that are due, and the earliest time of the others; NONE if there are none.
  private record Choice(List<Integer> rows, boolean hasOthers, long otherTime, long lastTime) {}

  TimerSlices(
      long width, Steps steps, StateTables tables, DeviceContext context, HostNumbers numbers) {
    this.width = width;
    this.steps = steps;
    this.tables = tables;
    this.context = context;
    this.numbers = numbers;
    this.lookup = new StateLookup(context.stream(), context.resource());
    for (long namespace : tables.all().keySet()) {
      if (namespace != StateTables.ONLY) {
        earliest.put(namespace, namespace - Math.floorMod(namespace, ALIGNMENT));
      }
    }
  }

  /** The namespace of the table that has a timer. */
  long namespace(long time, boolean isProcessingTime) {
    // The first slice would begin before all times.
    long begin = Math.floorDiv(Math.max(time, Long.MIN_VALUE + width), width) * width;
    return begin + mark(isProcessingTime ? TimeDomain.PROCESSING_TIME : TimeDomain.EVENT_TIME);
  }

  private static long mark(TimeDomain domain) {
    return domain == TimeDomain.EVENT_TIME ? 1 : 2;
  }

  /** Notes that the table of a slice has a timer, or had. */
  void add(long namespace, long time) {
    earliest.merge(namespace, time, Math::min);
  }

  /** A time before which no timer of a domain is due, if there is a timer. */
  OptionalLong nextTime(TimeDomain domain) {
    return earliest.entrySet().stream()
        .filter(slice -> Math.floorMod(slice.getKey(), ALIGNMENT) == mark(domain))
        .mapToLong(slice -> slice.getValue())
        .min();
  }

  /** The first slice of a domain that may have a timer that is due, if there is one. */
  OptionalLong nextSlice(TimeDomain domain, long now) {
    return earliest.entrySet().stream()
        .filter(slice -> Math.floorMod(slice.getKey(), ALIGNMENT) == mark(domain))
        .filter(slice -> slice.getValue() <= now)
        .mapToLong(slice -> slice.getKey())
        .findFirst();
  }

  /**
   * Takes timers out of a slice: the first timer of each key that is due; of many keys those with
   * the earliest timers.
   *
   * @return null if none is due
   */
  Due takeDue(long namespace, long now) {
    Taken taken = context.retry().withRetry(() -> due(namespace, now));
    if (!taken.choice.hasOthers) {
      earliest.remove(namespace);
      tables.remove(namespace);
    } else {
      earliest.put(namespace, taken.choice.otherTime);
    }
    if (taken.timers == null) {
      return null;
    }
    if (taken.choice.hasOthers) {
      remove(namespace, taken.timers);
    }
    return new Due(taken.timers, taken.choice.lastTime);
  }

  private record Taken(Choice choice, Table timers) {}

  private Taken due(long namespace, long now) {
    StateTable slice = tables.all().get(namespace);
    int rows = Math.toIntExact(slice.rowCount());
    try (Table all = slice.values(0, rows, List.of());
        Table set = steps.timers().set().apply(all, context.stream(), context.resource())) {
      Choice choice = choose(set, now);
      if (choice.rows.isEmpty()) {
        return new Taken(choice, null);
      }
      try (Column map = numbers.upload(choice.rows)) {
        return new Taken(choice, Gather.gather(set, map, context.stream(), context.resource()));
      }
    }
  }

  private Choice choose(Table set, long now) {
    if (set.rowCount() == 0) {
      return new Choice(List.of(), false, NONE, NONE);
    }
    try (StateTable groups = new StateTable(steps.groups(), context.stream(), context.resource());
        Table keys = steps.timers().keys().apply(set, context.stream(), context.resource())) {
      groups.accumulate(keys);
      try (Column keyNumbers = lookup.rows(groups, keys, DataType.INT32);
          Table times = set.select(List.of(ProcessPlan.TIMER));
          Table hostTimes = numbers.toHost(times);
          Table hostKeys = numbers.toHost(keyNumbers);
          AccessScope scope = AccessScope.on(context.hostStream())) {
        return choose(
            new ColumnReader(hostTimes.column(0), scope),
            new ColumnReader(hostKeys.column(0), scope),
            now);
      }
    }
  }

  private static Choice choose(ColumnReader times, ColumnReader keys, long now) {
    List<Integer> due =
        IntStream.range(0, times.size())
            .filter(row -> times.getLong(row) <= now)
            .boxed()
            .sorted(Comparator.comparingLong(times::getLong))
            .toList();
    List<Integer> chosen = new ArrayList<>();
    BitSet known = new BitSet();
    long lastTime = Long.MIN_VALUE;
    long otherTime = NONE;
    for (int row : due) {
      if (chosen.size() < MAX_TIMERS && !known.get(keys.getInt(row))) {
        known.set(keys.getInt(row));
        chosen.add(row);
        lastTime = times.getLong(row);
      } else {
        otherTime = Math.min(otherTime, times.getLong(row));
      }
    }
    for (int row = 0; row < times.size(); row++) {
      if (times.getLong(row) > now) {
        otherTime = Math.min(otherTime, times.getLong(row));
      }
    }
    return new Choice(chosen, chosen.size() < times.size(), otherTime, lastTime);
  }

  private void remove(long namespace, Table timers) {
    try {
      context
          .retry()
          .withSplitAndRetry(
              timers,
              part -> steps.timers().removals().apply(part, context.stream(), context.resource()),
              removals -> update(namespace, removals));
    } catch (RuntimeException | Error e) {
      timers.close();
      throw e;
    }
  }

  /**
   * Changes timers of a slice.
   *
   * @param changes what the state is updated with; this takes ownership
   */
  void update(long namespace, Table changes) {
    try (changes) {
      context
          .retry()
          .withSplitAndRetry(
              changes, part -> tables.forUpdate(namespace).update(part), Table::close);
    }
  }
}
