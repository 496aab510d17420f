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
        new WindowAggregatePlan(
            ROWS,
            List.of("a", "b"),
            timeWindow(function, Duration.ofMillis(size), Duration.ofMillis(step))
                .offset(Duration.ofMillis(offset)),
            List.of(count(), sum("v"), max("w")),
            ExpressionSettings.DEFAULT,
            Duration.ofMillis(lateness),
            Duration.ofMillis(interval)));
  }

  private static TimeWindow timeWindow(String function, Duration size, Duration step) {
    return switch (function) {
      case "TUMBLE" -> Tumble.over("ts", size);
      case "HOP" -> Hop.over("ts", size).every(step);
      default -> Cumulate.over("ts", size).every(step);
    };
  }

  private boolean cumulates() {
    return function.equals("CUMULATE");
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
