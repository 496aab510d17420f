// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import java.io.Serializable;
import java.time.Duration;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * How many of the small batches that come out of an exchange are joined before further work. The
 * first limit that is reached decides; so do watermarks, checkpoint barriers and the end of input,
 * and as many rows as the operators behind took in 100 ms lately.
 *
 * @param rows a joined batch is sent on when it has this many rows, from 1 to 2<sup>30</sup>
 * @param bytes or this many bytes, from 1 to 1 GiB
 * @param delay or when its first row is this old, by processing time; from 1 ms to one day
 */
@PublicEvolving
public record CoalesceOptions(int rows, long bytes, Duration delay) implements Serializable {
  private static final int ROWS_LIMIT = 1 << 30;
  private static final long BYTES_LIMIT = 1L << 30;
  private static final Duration DELAY_LIMIT = Duration.ofDays(1);

  /** 64 Ki rows or 32 MiB, after 10 ms at the latest. */
  public static final CoalesceOptions DEFAULT =
      new CoalesceOptions(64 << 10, 32L << 20, Duration.ofMillis(10));

  public CoalesceOptions {
    Objects.requireNonNull(delay, "delay is null");
    if (rows < 1 || rows > ROWS_LIMIT) {
      throw new IllegalArgumentException("rows is " + rows + ", not from 1 to " + ROWS_LIMIT);
    }
    if (bytes < 1 || bytes > BYTES_LIMIT) {
      throw new IllegalArgumentException("bytes is " + bytes + ", not from 1 to " + BYTES_LIMIT);
    }
    if (delay.toMillis() < 1 || delay.compareTo(DELAY_LIMIT) > 0) {
      throw new IllegalArgumentException("delay is " + delay + ", not from 1 ms to one day");
    }
  }

  /** These options with another number of rows. */
  public CoalesceOptions withRows(int newRows) {
    return new CoalesceOptions(newRows, bytes, delay);
  }

  /** These options with another number of bytes. */
  public CoalesceOptions withBytes(long newBytes) {
    return new CoalesceOptions(rows, newBytes, delay);
  }

  /** These options with another delay. */
  public CoalesceOptions withDelay(Duration newDelay) {
    return new CoalesceOptions(rows, bytes, newDelay);
  }
}
