// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import java.time.Duration;
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
    return new TimeWindow(TimeWindow.Function.TUMBLE, timeColumn, size, size);
  }
}
