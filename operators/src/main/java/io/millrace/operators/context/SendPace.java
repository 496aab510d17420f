// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import org.apache.flink.annotation.Internal;

/**
 * Limits how many rows are sent at once, so that sending them takes no longer than {@value
 * #TARGET_MILLIS} ms. While an operator sends, its task handles neither a checkpoint barrier nor a
 * timer; so a slow consumer gets its rows in smaller batches.
 *
 * <p>The first limit is {@value #FIRST_ROWS} rows. After each batch, the limit becomes the number
 * of rows that take {@value #TARGET_MILLIS} ms at the average rate of about the last {@value
 * #BATCHES} batches. The new limit is at most twice the old limit or twice the rows of the batch,
 * whichever is larger. It grows only if the batch had at least half as many rows as the old limit.
 *
 * <p>The measured time is the send time of the whole chain. So it does not matter whether the rows
 * of a batch leave the chain while this batch is sent or, as rows that are copied from a GPU do, a
 * little later. Used by the chain's thread.
 */
@Internal
public final class SendPace {
  static final long TARGET_MILLIS = 100;

  /** The limit while the speed of downstream operators is unknown: they may take 1 ms per row. */
  public static final int FIRST_ROWS = 128;

  // More than the batches that may be in flight: rows that leave now may be of an earlier batch.
  private static final int BATCHES = 4;

  private final SendTime time;
  private long seenMillis;
  private double rows;
  private double millis;
  private long rowLimit;

  SendPace(SendTime time) {
    this.time = time;
    this.rowLimit = FIRST_ROWS;
  }

  /** How many rows may be sent at once; at least 1. */
  public int rowLimit() {
    return (int) rowLimit;
  }

  /** Milliseconds that sending one of the last batches took, on average; 0 before the first one. */
  public long averageMillis() {
    return (long) (millis / BATCHES);
  }

  /** Runs {@code send}, which sends {@code sentRows} rows, and adapts the limit to its time. */
  public void send(int sentRows, Runnable send) {
    time.measure(send);
    sent(sentRows);
  }

  private void sent(int sentRows) {
    long now = time.millis();
    rows += sentRows - rows / BATCHES;
    millis += (now - seenMillis) - millis / BATCHES;
    seenMillis = now;
    boolean isSlow = millis > BATCHES * TARGET_MILLIS;
    if (isSlow || (rowLimit < Integer.MAX_VALUE && sentRows >= rowLimit / 2)) {
      long inTime = (long) (rows * TARGET_MILLIS / Math.max(1, millis));
      long doubled = Math.min(Integer.MAX_VALUE, 2 * Math.max(rowLimit, sentRows));
      rowLimit = Math.max(1, Math.min(inTime, doubled));
    }
  }
}
