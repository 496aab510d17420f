// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import java.time.Duration;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/** Windows that follow each other without overlap: Flink SQL's {@code TUMBLE}. */
@PublicEvolving
public final class Tumble {
  private Tumble() {}

  /**
   * Windows of {@code size}.
   *
   * @param timeColumn a TIMESTAMP or TIMESTAMP_LTZ with up to 3 digits
   * @throws IllegalArgumentException if {@code size} is not a positive number of milliseconds
   */
  public static TimeWindow over(String timeColumn, Duration size) {
    return new TimeWindow(
        TimeWindow.Function.TUMBLE,
        Objects.requireNonNull(timeColumn, "timeColumn is null"),
        size,
        size);
  }

  /**
   * Windows of {@code size} of processing time: a row belongs to them by the clock of the machine
   * when its batch arrives at the operator. They fire by the clock; windows that are open at the
   * end of the input give no rows, as in Flink.
   *
   * @throws IllegalArgumentException if {@code size} is not a positive number of milliseconds
   */
  public static TimeWindow overProcessingTime(Duration size) {
    return new TimeWindow(TimeWindow.Function.TUMBLE, null, size, size);
  }
}
