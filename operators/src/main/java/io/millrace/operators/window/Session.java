// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import java.time.Duration;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/** Windows of rows of a key that follow each other: Flink SQL's {@code SESSION}. */
@PublicEvolving
public final class Session {
  private Session() {}

  /**
   * Sessions of processing time: a row belongs to the session of its key by the clock of the
   * machine when its batch arrives at the operator. They fire by the clock, at most a thousandth of
   * {@code gap} and a millisecond behind their end; sessions that are open at the end of the input
   * give no rows, as in Flink.
   *
   * @throws IllegalArgumentException if {@code gap} is not a positive number of milliseconds
   */
  public static TimeWindow overProcessingTime(Duration gap) {
    return new TimeWindow(TimeWindow.Function.SESSION, null, gap, gap);
  }

  /**
   * Sessions of each key: they begin with a row, and end when {@code gap} has passed behind their
   * last row.
   *
   * @param timeColumn a TIMESTAMP or TIMESTAMP_LTZ with up to 3 digits
   * @param gap rows of a key that are at most so far apart are in one session
   * @throws IllegalArgumentException if {@code gap} is not a positive number of milliseconds
   */
  public static TimeWindow over(String timeColumn, Duration gap) {
    return new TimeWindow(
        TimeWindow.Function.SESSION,
        Objects.requireNonNull(timeColumn, "timeColumn is null"),
        gap,
        gap);
  }
}
