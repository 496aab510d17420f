// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

/**
 * Chooses how many rows close a batch and how long a batch may wait for them, so that the oldest
 * row of a batch is sent before its age exceeds the latency target.
 *
 * <p>The rule, after each batch that was closed by its number of rows or by its deadline:
 *
 * <ul>
 *   <li>The wait of a batch is the target, less the longest recent send time of a batch (which
 *       fades by an eighth with each batch), less one millisecond for the resolution of the clock.
 *       It is at least half the target: if sending takes longer than that, smaller batches would
 *       make it slower.
 *   <li>The row limit is the number of rows that arrive during the wait at the rate of the last
 *       batch. It is at most twice the last limit, so that a single burst does not determine it,
 *       and lies between the minimum and the maximum.
 * </ul>
 *
 * When the rate falls, the deadline closes batches before they reach the limit, and the limit falls
 * with the next batch.
 */
final class AdaptiveBatchSize {
  private static final long CLOCK_MILLIS = 1;
  private static final int FADING = 8;

  private final int minRows;
  private final int maxRows;
  private final long latencyMillis;
  private int rowLimit;
  private long sendMillis;

  AdaptiveBatchSize(int minRows, int maxRows, long latencyMillis) {
    this.minRows = minRows;
    this.maxRows = maxRows;
    this.latencyMillis = latencyMillis;
    this.rowLimit = minRows;
  }

  /** How many rows close a batch. */
  int rowLimit() {
    return rowLimit;
  }

  /** How long a batch may be open, in milliseconds; at least 1. */
  long waitMillis() {
    long wait = Math.max(latencyMillis / 2, latencyMillis - CLOCK_MILLIS - sendMillis);
    return Math.max(1, wait);
  }

  /**
   * Adapts the row limit to a batch that was closed by its number of rows or by its deadline.
   *
   * @param openMillis the time from the batch's first row until it was closed
   */
  void closed(int rows, long openMillis) {
    long atThisRate = rows * waitMillis() / Math.max(1, openMillis);
    long limit = Math.min(atThisRate, 2L * rowLimit);
    rowLimit = (int) Math.max(minRows, Math.min(maxRows, limit));
  }

  /** Adapts the wait to the time that sending a batch took. */
  void sent(long millis) {
    sendMillis = Math.max(millis, sendMillis - (sendMillis + FADING - 1) / FADING);
  }
}
