// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.lookup;

import java.io.Serializable;
import java.time.Duration;
import org.apache.flink.annotation.PublicEvolving;

/**
 * How often a dimension table is read again, and how old it may be.
 *
 * @param interval from the end of a read to the begin of the next one
 * @param maxAge the time since the begin of the last read that succeeded, after which a lookup
 *     fails its job
 */
@PublicEvolving
public record RefreshOptions(Duration interval, Duration maxAge) implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

  /**
   * @throws IllegalArgumentException if the interval is below 1 ms, or the age is not above it
   */
  public RefreshOptions {
    if (interval.toMillis() < 1) {
      throw new IllegalArgumentException("expected an interval of 1 ms or more, got " + interval);
    }
    if (maxAge.compareTo(interval) <= 0) {
      throw new IllegalArgumentException(
          "expected an age above the interval of " + interval + ", got " + maxAge);
    }
  }

  /** Reads each {@code interval}; a table may be of any age. */
  public static RefreshOptions every(Duration interval) {
    return new RefreshOptions(interval, FOREVER);
  }

  /** These options with a limit for the age. */
  public RefreshOptions withMaxAge(Duration age) {
    return new RefreshOptions(interval, age);
  }
}
