// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.operators.transfer.WatermarkMode;
import java.io.Serializable;
import java.time.Duration;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * How many of the small batches that an exchange receives are joined to one. A joined batch is sent
 * when it reaches the first of these limits, before a watermark (see {@link WatermarkMode}), a
 * checkpoint barrier and the end of input, and when it has as many rows as the downstream operators
 * recently took in 100 ms.
 *
 * @param rows the number of rows at which a joined batch is sent; from 1 to 2<sup>30</sup>
 * @param bytes the size at which a joined batch is sent; from 1 byte to 1 GiB
 * @param delay the age of its first row, in processing time, at which a joined batch is sent; from
 *     1 ms to one day. Where watermarks are held, it is 10 times as long as the downstream
 *     operators recently took for a batch, if that is longer, but at most 10 times this delay: a
 *     batch costs time on a GPU that many subtasks share, however few rows it has
 * @param watermarks the effect of a watermark on the rows of a joined batch that is not sent yet
 */
@PublicEvolving
public record CoalesceOptions(int rows, long bytes, Duration delay, WatermarkMode watermarks)
    implements Serializable {
  private static final int ROWS_LIMIT = 1 << 30;
  private static final long BYTES_LIMIT = 1L << 30;
  private static final Duration DELAY_LIMIT = Duration.ofDays(1);

  /** 64 Ki rows or 32 MiB, after 10 ms at the latest; a watermark sends the joined batch. */
  public static final CoalesceOptions DEFAULT =
      new CoalesceOptions(64 << 10, 32L << 20, Duration.ofMillis(10), WatermarkMode.FLUSH);

  public CoalesceOptions {
    Objects.requireNonNull(delay, "delay is null");
    Objects.requireNonNull(watermarks, "watermarks is null");
    if (rows < 1 || rows > ROWS_LIMIT) {
      throw new IllegalArgumentException("expected rows from 1 to " + ROWS_LIMIT + ", got " + rows);
    }
    if (bytes < 1 || bytes > BYTES_LIMIT) {
      throw new IllegalArgumentException(
          "expected bytes from 1 to " + BYTES_LIMIT + ", got " + bytes);
    }
    if (delay.toMillis() < 1 || delay.compareTo(DELAY_LIMIT) > 0) {
      throw new IllegalArgumentException("expected a delay from 1 ms to one day, got " + delay);
    }
  }

  /** These options with another number of rows. */
  public CoalesceOptions withRows(int newRows) {
    return new CoalesceOptions(newRows, bytes, delay, watermarks);
  }

  /** These options with another number of bytes. */
  public CoalesceOptions withBytes(long newBytes) {
    return new CoalesceOptions(rows, newBytes, delay, watermarks);
  }

  /** These options with another delay. */
  public CoalesceOptions withDelay(Duration newDelay) {
    return new CoalesceOptions(rows, bytes, newDelay, watermarks);
  }

  /** These options with another effect of watermarks. */
  public CoalesceOptions withWatermarks(WatermarkMode newWatermarks) {
    return new CoalesceOptions(rows, bytes, delay, newWatermarks);
  }
}
