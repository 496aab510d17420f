// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import java.time.Duration;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/** Windows of one size that overlap: Flink SQL's {@code HOP}. */
@PublicEvolving
public final class Hop {
  // null for processing time.
  private final String timeColumn;
  private final Duration size;

  private Hop(String timeColumn, Duration size) {
    this.timeColumn = timeColumn;
    this.size = size;
  }

  /**
   * Begins windows of {@code size}.
   *
   * @param timeColumn a TIMESTAMP or TIMESTAMP_LTZ with up to 3 digits
   */
  public static Hop over(String timeColumn, Duration size) {
    return new Hop(Objects.requireNonNull(timeColumn, "timeColumn is null"), size);
  }

  /**
   * Begins windows of {@code size} of processing time: a row belongs to them by the clock of the
   * machine when its batch arrives at the operator. They fire by the clock; windows that are open
   * at the end of the input give no rows, as in Flink.
   */
  public static Hop overProcessingTime(Duration size) {
    return new Hop(null, size);
  }

  /**
   * A window begins every {@code slide}.
   *
   * @throws IllegalArgumentException if the size or {@code slide} is not a positive number of
   *     milliseconds, or the size is not a multiple of {@code slide}
   */
  public TimeWindow every(Duration slide) {
    return new TimeWindow(TimeWindow.Function.HOP, timeColumn, size, slide);
  }
}
