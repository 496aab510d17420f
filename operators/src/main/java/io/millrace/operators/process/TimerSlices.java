// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Table;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.process.ProcessPlan.Steps;
import io.millrace.operators.process.SliceTimers.Choice;
import io.millrace.operators.state.StateTables;
import io.millrace.state.StateTable;
import io.millrace.state.lookup.StateLookup;
import io.millrace.state.row.UpdateTime;
import java.time.Duration;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.apache.flink.streaming.api.TimeDomain;

/**
 * The timers that are set: a state table for each slice of time and domain, with a row for each key
 * and time. The namespace of a table is the beginning of its slice, which is a multiple of 4, and 1
 * for event time or 2 for processing time, so that it is never that of the values.
 */
final class TimerSlices {
  /** Slices are as wide as a multiple of so many milliseconds. */
  static final long ALIGNMENT = 4;

  private final long width;
  private final Steps steps;
  private final StateTables tables;
  private final DeviceContext context;
  private final HostNumbers numbers;
  private final StateLookup lookup;
  // For each slice a time before which none of its timers is.
  private final NavigableMap<Long, Long> earliest = new TreeMap<>();
  // The slice that was read last, if nothing has changed it; null if there is none.
  private SliceTimers read;
  private long readNamespace;

  /** Timers that are due, at most one of each key, in the order of time. */
  record Due(Table timers, long lastTime) {}

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

  /**
   * Checks the slices of a function.
   *
   * @param slices zero if it has no timers
   * @throws ExpressionException if the time is negative or not of a multiple of {@link #ALIGNMENT}
   */
  static void check(Duration slices) {
    boolean isWhole = slices.equals(Duration.ofMillis(slices.toMillis()));
    if (slices.isNegative() || !isWhole || slices.toMillis() % ALIGNMENT != 0) {
      throw new ExpressionException(
          "expected slices of timers of a multiple of " + ALIGNMENT + " ms, got " + slices);
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
   * the earliest timers. Keeps what it read of the slice until {@link #release} or {@link #update}.
   *
   * @return null if none is due
   */
  Due takeDue(long namespace, long now) {
    SliceTimers slice = read(namespace);
    Choice choice = slice.choose(now);
    Table timers =
        choice.rows().isEmpty()
            ? null
            : context.retry().withRetry(() -> slice.gather(choice, numbers, context));
    slice.taken(choice);
    if (!choice.hasOthers()) {
      release();
      earliest.remove(namespace);
      tables.remove(namespace);
    } else {
      earliest.put(namespace, choice.otherTime());
    }
    if (timers == null) {
      return null;
    }
    if (choice.hasOthers()) {
      remove(namespace, timers);
    }
    return new Due(timers, choice.lastTime());
  }

  private SliceTimers read(long namespace) {
    if (read == null || readNamespace != namespace) {
      release();
      StateTable slice = tables.all().get(namespace);
      read =
          context.retry().withRetry(() -> SliceTimers.read(slice, steps, lookup, numbers, context));
      readNamespace = namespace;
    }
    return read;
  }

  /** Gives back what was read of a slice. */
  void release() {
    if (read != null) {
      read.close();
      read = null;
    }
  }

  private void remove(long namespace, Table timers) {
    try {
      context
          .retry()
          .withSplitAndRetry(
              timers,
              part -> steps.timers().removals().apply(part, context.stream(), context.resource()),
              removals -> change(namespace, removals));
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
    if (readNamespace == namespace) {
      release();
    }
    change(namespace, changes);
  }

  private void change(long namespace, Table changes) {
    UpdateTime time = tables.schema().hasTime() ? StateTables.STAYS : null;
    try (changes) {
      context
          .retry()
          .withSplitAndRetry(
              changes, part -> tables.forUpdate(namespace).update(part, time), Table::close);
    }
  }
}
