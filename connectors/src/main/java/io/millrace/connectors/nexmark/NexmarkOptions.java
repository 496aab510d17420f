// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import java.io.Serializable;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * How a stream of generated events is emitted.
 *
 * @param configuration of the generated events
 * @param count how many events, or bids where only those are asked for; {@link #UNBOUNDED} for
 *     ever; a restored job keeps the count of its first start
 * @param perSecond of all subtasks together, in processing time; {@link #UNLIMITED} for as fast as
 *     possible
 * @param batchRows the most rows of a batch; with a rate there are fewer, so that there are at
 *     least 20 batches a second
 */
@PublicEvolving
public record NexmarkOptions(
    NexmarkConfiguration configuration, long count, long perSecond, int batchRows)
    implements Serializable {
  /** A count that never ends. */
  public static final long UNBOUNDED = Long.MAX_VALUE;

  /** A rate without limit. */
  public static final long UNLIMITED = Long.MAX_VALUE;

  private static final int DEFAULT_BATCH_ROWS = 1 << 14;
  private static final int BATCHES_PER_SECOND = 20;

  public NexmarkOptions {
    Objects.requireNonNull(configuration, "configuration is null");
    if (count < 0 || perSecond < 1 || batchRows < 1) {
      throw new IllegalArgumentException(
          String.format(
              "no %d events at %d a second in batches of %d rows", count, perSecond, batchRows));
    }
  }

  /** {@code count} default events, as fast as possible. */
  public static NexmarkOptions of(long count) {
    return new NexmarkOptions(NexmarkConfiguration.DEFAULT, count, UNLIMITED, DEFAULT_BATCH_ROWS);
  }

  /** The same events, up to so many. */
  public NexmarkOptions withCount(long other) {
    return new NexmarkOptions(configuration, other, perSecond, batchRows);
  }

  public NexmarkOptions withPerSecond(long other) {
    return new NexmarkOptions(configuration, count, other, batchRows);
  }

  public NexmarkOptions withBatchRows(int other) {
    return new NexmarkOptions(configuration, count, perSecond, other);
  }

  /** Rows of each batch but a subtask's last. */
  int rowsPerBatch() {
    return (int) Math.min(batchRows, Math.max(1, perSecond / BATCHES_PER_SECOND));
  }

  /** Batches a second; infinite without a limit. */
  double batchesPerSecond() {
    return perSecond == UNLIMITED ? Double.POSITIVE_INFINITY : (double) perSecond / rowsPerBatch();
  }
}
