// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.kernel.slice.TimeSlices.TimeRange;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.window.WindowAggregatePlan.Steps;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

/** Computes the arguments and times of batches of event time, and groups the rows by slice. */
final class SliceSplitter {
  // Rows whose times are further apart are split in halves.
  private static final int MAX_SLICES = 1024;
  // Milliseconds; more than any zone is away from UTC.
  private static final long MAX_ZONE_OFFSET = Duration.ofDays(1).toMillis();

  private final WindowAggregatePlan plan;
  private final TimeWindow window;
  private final Steps steps;
  private final DeviceContext context;

  /** Rows and the range of their times. */
  record TimedRows(SliceRows rows, TimeRange range) {}

  SliceSplitter(WindowAggregatePlan plan, Steps steps, DeviceContext context) {
    this.plan = plan;
    this.window = plan.window();
    this.steps = steps;
    this.context = context;
  }

  /**
   * Hands the rows of a batch to {@code consumer}, in one part or several, with their arguments and
   * times.
   *
   * @param batch stays the caller's; may have an {@link EventTimeColumn}, which late rows keep
   * @param consumer takes rows that are valid until it returns
   * @throws IllegalArgumentException if a time is null, or so far away that its slice ends, or its
   *     first window begins, beyond the milliseconds of a BIGINT
   */
  void forTimes(Table batch, Consumer<TimedRows> consumer) {
    context
        .retry()
        .withSplitAndRetry(
            batch,
            this::arguments,
            rows -> {
              try (rows) {
                if (rows.rowCount() > 0) {
                  checkTimes(rows.times());
                  forRanges(rows, timed -> consumer.accept(checked(timed)));
                }
              }
            });
  }

  /** Hands rows to {@code consumer}, in one part or several, with the ranges of their times. */
  void forRanges(SliceRows rows, Consumer<TimedRows> consumer) {
    context
        .retry()
        .withSplitAndRetry(
            rows,
            part -> new TimedRows(part, part.range(context.stream(), context.resource())),
            consumer);
  }

  private SliceRows arguments(Table input) {
    try (Table visible = EventTimeColumn.removeFrom(input)) {
      Table arguments =
          steps.aggregates().arguments().apply(visible, context.stream(), context.resource());
      try {
        Column times = times(visible);
        return new SliceRows(input.share(), arguments, times);
      } catch (RuntimeException | Error e) {
        arguments.close();
        throw e;
      }
    }
  }

  private Column times(Table input) {
    if (steps.times().isEmpty()) {
      return input.column(plan.timeColumn()).share();
    }
    try (Table times =
        steps.times().orElseThrow().apply(input, context.stream(), context.resource())) {
      return times.column(0).share();
    }
  }

  private void checkTimes(Column times) {
    int nulls = times.nullCount(context.stream());
    if (nulls > 0) {
      throw new IllegalArgumentException(
          "expected times in column '"
              + window.timeColumn().orElseThrow()
              + "', got "
              + nulls
              + " nulls");
    }
  }

  private TimedRows checked(TimedRows timed) {
    // The times are local, and fire by those of UTC.
    long distance = plan.zone().normalized().equals(ZoneOffset.UTC) ? 0 : MAX_ZONE_OFFSET;
    for (long time : new long[] {timed.range().first(), timed.range().last()}) {
      if (!window.hasSlice(time, distance)) {
        throw new IllegalArgumentException(
            "expected times in column '"
                + window.timeColumn().orElseThrow()
                + "' whose windows are within the milliseconds of a BIGINT, got "
                + time
                + " for "
                + window);
      }
    }
    return timed;
  }

  /** Takes the rows of a slice. */
  @FunctionalInterface
  interface SliceConsumer {
    /** Takes tables that are valid until this returns. */
    void accept(long sliceEnd, Table arguments, Table input);
  }

  /**
   * Hands rows to {@code consumer} by slice, in the order of time.
   *
   * @param needsInput by the end of the first slice: whether the consumer needs the columns of the
   *     batch, or may get other columns instead
   */
  void forSlices(TimedRows timed, LongPredicate needsInput, SliceConsumer consumer) {
    SliceRows rows = timed.rows();
    long first = window.sliceEnd(timed.range().first());
    long last = window.sliceEnd(timed.range().last());
    if (first == last) {
      consumer.accept(first, rows.arguments(), rows.input());
    } else if (Long.divideUnsigned(last - first, window.sliceWidth()) < MAX_SLICES) {
      forSlices(rows, first, last, needsInput.test(first), consumer);
    } else {
      FirstFailure failure = new FirstFailure();
      for (SliceRows half : rows.halves()) {
        if (!failure.hasFailed()) {
          failure.run(() -> forRanges(half, part -> forSlices(part, needsInput, consumer)));
        }
        failure.run(half::close);
      }
      failure.rethrow();
    }
  }

  private void forSlices(
      SliceRows rows, long first, long last, boolean needsInput, SliceConsumer consumer) {
    long width = window.sliceWidth();
    int count = (int) ((last - first) / width) + 1;
    context
        .retry()
        .withSplitAndRetry(
            rows,
            part ->
                SlicedRows.of(
                    part,
                    first - width,
                    width,
                    count,
                    needsInput,
                    context.stream(),
                    context.resource()),
            sliced -> {
              try (sliced) {
                for (int slice = 0; slice < count; slice++) {
                  forSlice(first + slice * width, sliced, slice, consumer);
                }
              }
            });
  }

  private static void forSlice(
      long sliceEnd, SlicedRows sliced, int slice, SliceConsumer consumer) {
    if (sliced.arguments().rowCount(slice) > 0) {
      try (Table arguments = sliced.arguments().partition(slice);
          Table input = sliced.input().orElse(sliced.arguments()).partition(slice)) {
        consumer.accept(sliceEnd, arguments, input);
      }
    }
  }
}
