// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import org.apache.flink.annotation.Internal;

/**
 * Limits how many rows are sent at once, so that sending them takes no longer than {@value
 * #TARGET_MILLIS} ms. While an operator sends, its task sees neither a checkpoint barrier nor a
 * timer; so a consumer that is slow gets its rows in smaller batches.
 *
 * <p>The first limit is {@value #FIRST_ROWS} rows. Then the rule of three, after each batch: as
 * many rows as were sent in the target's time by the last batches, about {@value #BATCHES} of them.
 * The limit at most doubles with a batch, and grows only if that had at least half as many rows.
 *
 * <p>It measures the whole chain. So it does not matter whether the rows of a batch leave while it
 * is sent or, as those that come from a GPU, a little later. Used by the chain's thread.
 */
@Internal
public final class SendPace {
  static final long TARGET_MILLIS = 100;

  /** The limit while nothing is known of the operators behind, which may take 1 ms a row. */
  public static final int FIRST_ROWS = 128;

  // As many as may be in flight, and more: what leaves now may be of a batch that many before.
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

  /** Runs {@code send}, which sends {@code sentRows}, and learns from the time that it took. */
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
