// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.sum;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.window.Cumulate;
import io.millrace.operators.window.Hop;
import io.millrace.operators.window.TimeWindow;
import io.millrace.operators.window.Tumble;
import io.millrace.operators.window.WindowAggregatePlan;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

/** The windows of rows, in milliseconds, and the plan of their aggregates. */
record SimulatedWindows(
    String function,
    long size,
    long step,
    long offset,
    long lateness,
    long interval,
    boolean isProcessingTime,
    WindowAggregatePlan plan) {
  static final Schema ROWS =
      Schema.of(
          Field.of("a", DataType.INT16),
          new Field("b", DataType.BOOL, false),
          Field.of("v", DataType.INT32),
          new Field("w", DataType.INT64, false),
          Field.of("ts", DataType.timestamp(3)));

  SimulatedWindows(String function, long size, long step, long offset, long lateness) {
    this(function, size, step, offset, lateness, 0);
  }

  /** Windows of processing time. */
  SimulatedWindows(String function, long size, long step) {
    this(
        function,
        size,
        step,
        0,
        0,
        0,
        true,
        plan(
            timeWindowNow(function, Duration.ofMillis(size), Duration.ofMillis(step)),
            Duration.ZERO,
            Duration.ZERO));
  }

  /**
   * @param interval of early results; 0: there are none
   */
  SimulatedWindows(
      String function, long size, long step, long offset, long lateness, long interval) {
    this(
        function,
        size,
        step,
        offset,
        lateness,
        interval,
        false,
        plan(
            timeWindow(function, Duration.ofMillis(size), Duration.ofMillis(step))
                .offset(Duration.ofMillis(offset)),
            Duration.ofMillis(lateness),
            Duration.ofMillis(interval)));
  }

  private static WindowAggregatePlan plan(TimeWindow window, Duration lateness, Duration interval) {
    return new WindowAggregatePlan(
        ROWS,
        List.of("a", "b"),
        window,
        List.of(count(), sum("v"), max("w")),
        ExpressionSettings.DEFAULT,
        lateness,
        interval);
  }

  private static TimeWindow timeWindow(String function, Duration size, Duration step) {
    return switch (function) {
      case "TUMBLE" -> Tumble.over("ts", size);
      case "HOP" -> Hop.over("ts", size).every(step);
      default -> Cumulate.over("ts", size).every(step);
    };
  }

  private static TimeWindow timeWindowNow(String function, Duration size, Duration step) {
    return switch (function) {
      case "TUMBLE" -> Tumble.overProcessingTime(size);
      case "HOP" -> Hop.overProcessingTime(size).every(step);
      default -> Cumulate.overProcessingTime(size).every(step);
    };
  }

  static LocalDateTime timestamp(long millis) {
    return LocalDateTime.ofEpochSecond(
        Math.floorDiv(millis, 1_000), Math.floorMod(millis, 1_000) * 1_000_000, ZoneOffset.UTC);
  }

  private boolean cumulates() {
    return function.equals("CUMULATE");
  }

  /** Whether the windows that end with one watermark come in the order of their ends. */
  boolean isOrdered() {
    return cumulates() || isProcessingTime;
  }

  private long floor(long time, long width) {
    return Math.floorDiv(time - offset, width) * width + offset;
  }

  long start(long end) {
    return cumulates() ? floor(end - 1, size) : end - size;
  }

  /** The ends of the windows of a row. */
  List<Long> ends(long time) {
    long first = floor(time, step) + step;
    long last = cumulates() ? floor(time, size) + size : first - step + size;
    List<Long> ends = new ArrayList<>();
    for (long end = first; end <= last; end += step) {
      ends.add(end);
    }
    return ends;
  }
}
