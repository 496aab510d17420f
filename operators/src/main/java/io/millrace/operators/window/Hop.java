// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import java.time.Duration;
import org.apache.flink.annotation.PublicEvolving;

/** Windows of one size that overlap: Flink SQL's {@code HOP}. */
@PublicEvolving
public final class Hop {
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
    return new Hop(timeColumn, size);
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
