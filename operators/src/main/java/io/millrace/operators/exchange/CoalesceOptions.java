package io.millrace.operators.exchange;

import java.io.Serializable;
import java.time.Duration;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * How many of the small batches that come out of an exchange are joined before further work. The
 * first limit that is reached decides; so do watermarks, checkpoint barriers and the end of input.
 *
 * @param rows a joined batch is sent on when it has this many rows, at least 1
 * @param bytes or this many bytes, at least 1
 * @param delay or when its first row is this old, by processing time; at least 1 ms
 */
@PublicEvolving
public record CoalesceOptions(int rows, long bytes, Duration delay) implements Serializable {
  /** 64 Ki rows or 32 MiB, after 10 ms at the latest. */
  public static final CoalesceOptions DEFAULT =
      new CoalesceOptions(64 << 10, 32L << 20, Duration.ofMillis(10));

  public CoalesceOptions {
    Objects.requireNonNull(delay, "delay is null");
    if (rows < 1 || bytes < 1 || delay.toMillis() < 1) {
      throw new IllegalArgumentException(
          "limits must be at least 1: " + rows + " rows, " + bytes + " bytes, " + delay);
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
