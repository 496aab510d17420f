// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import java.io.Serializable;
import java.time.Duration;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * When rows that are being batched are sent on. A batch is closed by the first of: its number of
 * rows, its bytes, the age of its oldest row, a watermark (see {@link WatermarkMode}), a change of
 * the watermark status, a checkpoint barrier, the end of the input, no memory for one row more, or
 * as many rows as the operators behind took in 100 ms lately: also below {@code minRows}, because a
 * checkpoint waits for rows that are being sent. Nothing is known of those operators at first: the
 * first batch has at most 128 rows, and the next at most twice as many as the one before.
 *
 * @param minRows the number of rows that closes a batch adapts to the rate, between this, at least
 *     1,
 * @param maxRows and this
 * @param maxBytes of a batch's columns without their masks; the row that reaches it is the batch's
 *     last; from 1 to 1 GiB
 * @param latency how old, in processing time, a batch's oldest row may become before the batch is
 *     sent; from 1 ms to one day
 * @param watermarks what watermarks do
 */
@PublicEvolving
public record BatchOptions(
    int minRows, int maxRows, long maxBytes, Duration latency, WatermarkMode watermarks)
    implements Serializable {
  private static final long MAX_BYTES_LIMIT = 1L << 30;
  private static final Duration LATENCY_LIMIT = Duration.ofDays(1);

  /** 1 to 65 536 rows, 64 MiB, 20 ms; a watermark closes the batch before it. */
  public static final BatchOptions DEFAULT =
      new BatchOptions(1, 1 << 16, 64L << 20, Duration.ofMillis(20), WatermarkMode.FLUSH);

  public BatchOptions {
    Objects.requireNonNull(watermarks, "watermarks is null");
    if (minRows < 1 || minRows > maxRows) {
      throw new IllegalArgumentException(
          "rows of a batch from " + minRows + " to " + maxRows + "; needs 1 <= minRows <= maxRows");
    }
    if (maxBytes < 1 || maxBytes > MAX_BYTES_LIMIT) {
      throw new IllegalArgumentException(
          "maxBytes is " + maxBytes + ", not from 1 to " + MAX_BYTES_LIMIT);
    }
    if (latency.toMillis() < 1 || latency.compareTo(LATENCY_LIMIT) > 0) {
      throw new IllegalArgumentException("latency is " + latency + ", not from 1 ms to one day");
    }
  }

  /** {@link #DEFAULT} with this latency. */
  public static BatchOptions latency(Duration latency) {
    return DEFAULT.withLatency(latency);
  }

  public BatchOptions withLatency(Duration newLatency) {
    return new BatchOptions(minRows, maxRows, maxBytes, newLatency, watermarks);
  }

  /**
   * With equal numbers the number of rows does not adapt to the rate, only to a slow consumer,
   * which the operators behind are taken for until they have shown that they are not.
   */
  public BatchOptions withRows(int newMinRows, int newMaxRows) {
    return new BatchOptions(newMinRows, newMaxRows, maxBytes, latency, watermarks);
  }

  public BatchOptions withMaxBytes(long newMaxBytes) {
    return new BatchOptions(minRows, maxRows, newMaxBytes, latency, watermarks);
  }

  public BatchOptions withWatermarks(WatermarkMode newWatermarks) {
    return new BatchOptions(minRows, maxRows, maxBytes, latency, newWatermarks);
  }
}
