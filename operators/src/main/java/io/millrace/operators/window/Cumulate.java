// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import java.time.Duration;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Windows with one start that become longer by a step, up to a largest size: Flink SQL's {@code
 * CUMULATE}.
 */
@PublicEvolving
public final class Cumulate {
  // null for processing time.
  private final String timeColumn;
  private final Duration maxSize;

  private Cumulate(String timeColumn, Duration maxSize) {
    this.timeColumn = timeColumn;
    this.maxSize = maxSize;
  }

  /**
   * Begins windows of up to {@code maxSize}.
   *
   * @param timeColumn a TIMESTAMP or TIMESTAMP_LTZ with up to 3 digits
   */
  public static Cumulate over(String timeColumn, Duration maxSize) {
    return new Cumulate(Objects.requireNonNull(timeColumn, "timeColumn is null"), maxSize);
  }

  /**
   * Begins windows of up to {@code maxSize} of processing time: a row belongs to them by the clock
   * of the machine when its batch arrives at the operator. They fire by the clock; windows that are
   * open at the end of the input give no rows, as in Flink.
   */
  public static Cumulate overProcessingTime(Duration maxSize) {
    return new Cumulate(null, maxSize);
  }

  /**
   * Each window is {@code step} longer than the one before.
   *
   * @throws IllegalArgumentException if the largest size or {@code step} is not a positive number
   *     of milliseconds, or the largest size is not a multiple of {@code step}
   */
  public TimeWindow every(Duration step) {
    return new TimeWindow(TimeWindow.Function.CUMULATE, timeColumn, maxSize, step);
  }
}
