// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Column;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.kernel.slice.TimeSlices.TimeRange;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.window.WindowAggregatePlan.Steps;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** Computes the arguments and times of batches of event time, and groups the rows by slice. */
final class SliceSplitter {
  // Rows whose times are further apart are split by time first.
  private static final int MAX_SLICES = 1024;
  private static final String TIMES = "$times";
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

  /**
   * Hands rows to two consumers, by their times.
   *
   * @param time some rows are before, and some not
   * @param needsInput whether the consumers need the columns of the batch, or may get other columns
   *     instead
   * @param fromThen takes rows in one part or several, before {@code before} takes those of the
   *     same part of the batch, which is the whole batch unless memory is short
   * @param before takes rows that are valid until it returns
   */
  void splitAt(
      TimedRows timed,
      long time,
      boolean needsInput,
      Consumer<TimedRows> fromThen,
      Consumer<SliceRows> before) {
    forParts(
        timed,
        time,
        needsInput,
        (rowsBefore, others) -> {
          if (others.rowCount() > 0) {
            forRanges(others, fromThen);
          }
          if (rowsBefore.rowCount() > 0) {
            before.accept(rowsBefore);
          }
        });
  }

  // Hands the rows before a time and the others to a consumer, together.
  private void forParts(
      TimedRows timed, long time, boolean needsInput, BiConsumer<SliceRows, SliceRows> consumer) {
    // Two slices, of which the second begins then.
    long width = maxUnsigned(time - timed.range().first(), timed.range().last() - time + 1);
    context
        .retry()
        .withSplitAndRetry(
            timed.rows(),
            part -> slicedWithTimes(part, time - width, width, needsInput),
            sliced -> {
              try (sliced;
                  SliceRows before = part(sliced, 0);
                  SliceRows others = part(sliced, 1)) {
                consumer.accept(before, others);
              }
            });
  }

  private static long maxUnsigned(long left, long right) {
    return Long.compareUnsigned(left, right) > 0 ? left : right;
  }

  private SlicedRows slicedWithTimes(SliceRows rows, long start, long width, boolean needsInput) {
    Table arguments = rows.arguments();
    int last = arguments.columnCount();
    Schema schema = arguments.schema().with(new Field(TIMES, rows.times().type(), false));
    try (Table withTimes =
        Table.of(
            schema,
            rows.rowCount(),
            i -> (i < last ? arguments.column(i) : rows.times()).share())) {
      return SlicedRows.of(
          new SliceRows(rows.input(), withTimes, rows.times()),
          start,
          width,
          2,
          needsInput,
          context.stream(),
          context.resource());
    }
  }

  private static SliceRows part(SlicedRows sliced, int number) {
    try (Table withTimes = sliced.arguments().partition(number)) {
      int last = withTimes.columnCount() - 1;
      return new SliceRows(
          sliced.input().orElse(sliced.arguments()).partition(number),
          withTimes.select(withTimes.schema().names().subList(0, last)),
          withTimes.column(last).share());
    }
  }

  /** Takes the rows of a slice. */
  @FunctionalInterface
  interface SliceConsumer {
    /** Takes a table that is valid until this returns. */
    void accept(long sliceEnd, Table arguments);
  }

  /** Hands the arguments of rows to {@code consumer} by slice, in the order of time. */
  void forSlices(TimedRows timed, SliceConsumer consumer) {
    long width = window.sliceWidth();
    long first = window.sliceEnd(timed.range().first());
    long furtherSlices = Long.divideUnsigned(window.sliceEnd(timed.range().last()) - first, width);
    if (furtherSlices == 0) {
      consumer.accept(first, timed.rows().arguments());
    } else if (furtherSlices < MAX_SLICES) {
      forSlices(timed.rows(), first, (int) furtherSlices + 1, consumer);
    } else {
      forParts(
          timed,
          first + (furtherSlices >>> 1) * width,
          false,
          (before, others) -> {
            for (SliceRows part : List.of(before, others)) {
              if (part.rowCount() > 0) {
                forRanges(part, rows -> forSlices(rows, consumer));
              }
            }
          });
    }
  }

  private void forSlices(SliceRows rows, long first, int count, SliceConsumer consumer) {
    long width = window.sliceWidth();
    context
        .retry()
        .withSplitAndRetry(
            rows,
            part ->
                SlicedRows.of(
                    part, first - width, width, count, false, context.stream(), context.resource()),
            sliced -> {
              try (sliced) {
                for (int slice = 0; slice < count; slice++) {
                  forSlice(first + slice * width, sliced.arguments(), slice, consumer);
                }
              }
            });
  }

  private static void forSlice(
      long sliceEnd, PartitionedTable slices, int slice, SliceConsumer consumer) {
    if (slices.rowCount(slice) > 0) {
      try (Table arguments = slices.partition(slice)) {
        consumer.accept(sliceEnd, arguments);
      }
    }
  }
}
