// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.window.TimeWindow;
import java.time.Duration;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * A stream whose rows are grouped by key and window: the result of {@link
 * KeyedColumnStream#window}.
 *
 * <pre>{@code
 * bids.keyBy("auction")
 *     .window(Tumble.over("dateTime", Duration.ofSeconds(10)))
 *     .aggregate(Aggregate.count().as("bids"), Aggregate.max("price").as("highest"))
 *     .toRows();
 * }</pre>
 */
@PublicEvolving
public final class WindowedColumnStream {
  private final StreamPlan plan;
  private final List<String> keys;
  private final TimeWindow window;
  private final boolean keepsLateRows;
  private final Duration allowedLateness;
  private final Duration earlyFiring;

  WindowedColumnStream(
      StreamPlan plan,
      List<String> keys,
      TimeWindow window,
      boolean keepsLateRows,
      Duration allowedLateness,
      Duration earlyFiring) {
    this.plan = plan;
    this.keys = keys;
    this.window = window;
    this.keepsLateRows = keepsLateRows;
    this.allowedLateness = allowedLateness;
    this.earlyFiring = earlyFiring;
  }

  /**
   * Sends late rows to {@link ColumnStream#lateRows} of the result. Without this, they are dropped
   * and counted in the metric {@code numLateRecordsDropped}. A row is late if all its windows have
   * ended, and the allowed lateness has passed, by the watermark.
   */
  public WindowedColumnStream sideOutputLateRows() {
    return new WindowedColumnStream(plan, keys, window, true, allowedLateness, earlyFiring);
  }

  /**
   * Lets windows take rows until the watermark has passed their end by {@code lateness}. The result
   * of {@link #aggregate} is a changelog then: rows of a window that has fired update its results
   * at once, with the row before directly before the row after. State stays as much longer. Zero,
   * which is the default, is without this.
   *
   * @param lateness of windows of event time
   * @throws IllegalArgumentException if {@code lateness} is negative or no number of milliseconds
   */
  public WindowedColumnStream allowedLateness(Duration lateness) {
    checkMillis(lateness);
    return new WindowedColumnStream(plan, keys, window, keepsLateRows, lateness, earlyFiring);
  }

  /**
   * Emits results of windows of TUMBLE, HOP and CUMULATE before they end, as Flink SQL does for
   * group windows with {@code table.exec.emit.early-fire.delay}. The result of {@link #aggregate}
   * is a changelog then: each {@code interval} of the machine's clock, and before each checkpoint,
   * a row is emitted for each key that has new rows in a window, as an insertion or as an update
   * with the row before directly before the row after; nothing if no accumulator of the key
   * changed. When a window fires, it emits only what changed since. Zero, which is the default, is
   * without this.
   *
   * @param interval between results, of windows of event time
   * @throws IllegalArgumentException if {@code interval} is negative or no number of milliseconds
   */
  public WindowedColumnStream earlyFiring(Duration interval) {
    checkMillis(interval);
    return new WindowedColumnStream(plan, keys, window, keepsLateRows, allowedLateness, interval);
  }

  private static void checkMillis(Duration time) {
    if (time.isNegative() || !time.equals(Duration.ofMillis(time.toMillis()))) {
      throw new IllegalArgumentException("expected whole milliseconds, at least 0, got " + time);
    }
  }

  /**
   * Aggregates the rows of each key and window. When the watermark reaches the last millisecond of
   * a window, or the clock passes it for a window of processing time, a row is emitted for each key
   * that has rows in it: the key, the results, and {@code window_start}, {@code window_end} and
   * {@code window_time} as in Flink SQL.
   *
   * <p>State is a row per key and slice, until the last window of the slice has ended and the
   * allowed lateness has passed. A slice is the time between two ends of windows.
   *
   * @param aggregates the columns behind the key columns, at least one
   * @throws ExpressionException as {@link KeyedColumnStream#aggregate}; if there is no time column
   *     or it has another type than TIMESTAMP or TIMESTAMP_LTZ with up to 3 digits; if a column is
   *     called as a column of the window; if the stream is a changelog; or if there is allowed
   *     lateness and the windows are of processing time, or they are not TUMBLE and an aggregate
   *     depends on the order of rows: a sum or average of FLOAT or DOUBLE, a variance, or a first
   *     or last value; or if there is early firing and the windows are sessions or of processing
   *     time, or there is such an aggregate
   */
  public ColumnStream aggregate(Aggregate... aggregates) {
    return new ColumnStream(
        KeyedSteps.windowAggregate(
            plan, keys, window, List.of(aggregates), keepsLateRows, allowedLateness, earlyFiring));
  }
}
