// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import io.millrace.operators.transfer.WatermarkMode;
import java.io.Serializable;
import java.time.Duration;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * When a batch of rows is closed and sent. A batch is closed by the first of these: its number of
 * rows, its bytes, the age of its oldest row, a watermark (see {@link WatermarkMode}), a change of
 * the watermark status, a checkpoint barrier, the end of the input, or a lack of memory for the
 * next row.
 *
 * <p>A slow consumer also closes a batch: when the batch has as many rows as the downstream
 * operators recently took in 100 ms. This may be fewer than {@code minRows}, because a checkpoint
 * waits while rows are sent. At first, the speed of the downstream operators is unknown: the first
 * batch has at most 128 rows, and each further batch has at most twice as many rows as the batch
 * before.
 *
 * @param minRows the lower bound, at least 1, of the number of rows that closes a batch; this
 *     number adapts to the rate of rows
 * @param maxRows the upper bound of the number of rows that closes a batch, at least {@code
 *     minRows}
 * @param maxBytes the size of a batch's columns, without their validity masks, that closes the
 *     batch; the row that reaches this size is the batch's last; from 1 byte to 1 GiB
 * @param latency how old, in processing time, a batch's oldest row may become before the batch is
 *     sent; from 1 ms to one day
 * @param watermarks the effect of a watermark on an open batch
 */
@PublicEvolving
public record BatchOptions(
    int minRows, int maxRows, long maxBytes, Duration latency, WatermarkMode watermarks)
    implements Serializable {
  private static final long MAX_BYTES_LIMIT = 1L << 30;
  private static final Duration LATENCY_LIMIT = Duration.ofDays(1);

  /** 1 to 65 536 rows, 64 MiB, 20 ms; a watermark closes the open batch. */
  public static final BatchOptions DEFAULT =
      new BatchOptions(1, 1 << 16, 64L << 20, Duration.ofMillis(20), WatermarkMode.FLUSH);

  public BatchOptions {
    Objects.requireNonNull(watermarks, "watermarks is null");
    if (minRows < 1 || minRows > maxRows) {
      throw new IllegalArgumentException(
          "expected 1 <= minRows <= maxRows, got rows from " + minRows + " to " + maxRows);
    }
    if (maxBytes < 1 || maxBytes > MAX_BYTES_LIMIT) {
      throw new IllegalArgumentException(
          "expected maxBytes from 1 to " + MAX_BYTES_LIMIT + ", got " + maxBytes);
    }
    if (latency.toMillis() < 1 || latency.compareTo(LATENCY_LIMIT) > 0) {
      throw new IllegalArgumentException("expected a latency from 1 ms to one day, got " + latency);
    }
  }

  /** {@link #DEFAULT} with this latency. */
  public static BatchOptions latency(Duration latency) {
    return DEFAULT.withLatency(latency);
  }

  /** These options with another latency. */
  public BatchOptions withLatency(Duration newLatency) {
    return new BatchOptions(minRows, maxRows, maxBytes, newLatency, watermarks);
  }

  /**
   * These options with other bounds of the number of rows. With equal bounds, the number of rows
   * does not adapt to the rate, but still to a slow consumer; at first, the downstream operators
   * are assumed to be slow.
   */
  public BatchOptions withRows(int newMinRows, int newMaxRows) {
    return new BatchOptions(newMinRows, newMaxRows, maxBytes, latency, watermarks);
  }

  /** These options with another number of bytes. */
  public BatchOptions withMaxBytes(long newMaxBytes) {
    return new BatchOptions(minRows, maxRows, newMaxBytes, latency, watermarks);
  }

  /** These options with another effect of watermarks. */
  public BatchOptions withWatermarks(WatermarkMode newWatermarks) {
    return new BatchOptions(minRows, maxRows, maxBytes, latency, newWatermarks);
  }
}
