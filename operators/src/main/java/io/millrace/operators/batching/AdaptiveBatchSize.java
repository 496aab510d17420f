// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

/**
 * Chooses how many rows close a batch and how long a batch may wait for them, so that its oldest
 * row is sent before it is older than the latency target.
 *
 * <p>The rule, after each batch that was closed by its number of rows or by its deadline:
 *
 * <ul>
 *   <li>A batch may wait for rows for the target less the time that sending a batch took lately
 *       (the longest, fading by an eighth a batch) and less a millisecond of the clock; but not for
 *       less than half the target: where sending is that slow, smaller batches would make it
 *       slower.
 *   <li>The row limit is what arrives in that time at the rate of the last batch, at most double
 *       the last limit, so that one burst does not decide, within the minimum and maximum.
 * </ul>
 *
 * When the rate falls the deadline closes batches early, and the limit follows at once.
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

  /** How long a batch may be open. */
  long waitMillis() {
    long wait = Math.max(latencyMillis / 2, latencyMillis - CLOCK_MILLIS - sendMillis);
    return Math.max(1, wait);
  }

  /**
   * Learns from a batch that its rows or its deadline closed.
   *
   * @param openMillis from its first row until it was closed
   */
  void closed(int rows, long openMillis) {
    long atThisRate = rows * waitMillis() / Math.max(1, openMillis);
    long limit = Math.min(atThisRate, 2L * rowLimit);
    rowLimit = (int) Math.max(minRows, Math.min(maxRows, limit));
  }

  /** Learns how long sending a batch took. */
  void sent(long millis) {
    sendMillis = Math.max(millis, sendMillis - (sendMillis + FADING - 1) / FADING);
  }
}
