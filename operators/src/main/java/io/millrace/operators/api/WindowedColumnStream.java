// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.window.TimeWindow;
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

  WindowedColumnStream(
      StreamPlan plan, List<String> keys, TimeWindow window, boolean keepsLateRows) {
    this.plan = plan;
    this.keys = keys;
    this.window = window;
    this.keepsLateRows = keepsLateRows;
  }

  /**
   * Sends late rows to {@link ColumnStream#lateRows} of the result. Without this, they are dropped
   * and counted in the metric {@code numLateRecordsDropped}. A row is late if all its windows have
   * ended, by the watermark.
   */
  public WindowedColumnStream sideOutputLateRows() {
    return new WindowedColumnStream(plan, keys, window, true);
  }

  /**
   * Aggregates the rows of each key and window. When the watermark reaches the last millisecond of
   * a window, or the clock passes it for a window of processing time, a row is emitted for each key
   * that has rows in it: the key, the results, and {@code window_start}, {@code window_end} and
   * {@code window_time} as in Flink SQL.
   *
   * <p>State is a row per key and slice, until the last window of the slice has ended. A slice is
   * the time between two ends of windows.
   *
   * @param aggregates the columns behind the key columns, at least one
   * @throws ExpressionException as {@link KeyedColumnStream#aggregate}; if there is no time column
   *     or it has another type than TIMESTAMP or TIMESTAMP_LTZ with up to 3 digits; if a column is
   *     called as a column of the window; or if the stream is a changelog
   */
  public ColumnStream aggregate(Aggregate... aggregates) {
    return new ColumnStream(
        KeyedSteps.windowAggregate(plan, keys, window, List.of(aggregates), keepsLateRows));
  }
}
