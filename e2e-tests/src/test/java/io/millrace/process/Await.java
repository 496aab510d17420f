// SPDX-License-Identifier: Apache-2.0
package io.millrace.process;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** Waits for something another process does: polls it until it holds or a deadline passes. */
public final class Await {
  private static final Duration POLL_INTERVAL = Duration.ofMillis(50);

  private Await() {}

  /**
   * Returns when {@code condition} holds.
   *
   * @param what what is waited for, in words; it opens the message of the error
   * @param limit how long to wait
   * @param condition asked every 50 ms; what it throws ends the wait
   * @param diagnosis what to show when the time is over, such as the tail of a log
   * @throws AssertionError if the condition does not hold within {@code limit}
   */
  public static void until(
      String what, Duration limit, Callable<Boolean> condition, Supplier<String> diagnosis)
      throws Exception {
    long deadlineNanos = System.nanoTime() + limit.toNanos();
    while (!condition.call()) {
      if (System.nanoTime() - deadlineNanos > 0) {
        throw new AssertionError(
            what + ": not within " + limit.toSeconds() + " s\n" + diagnosis.get());
      }
      Thread.sleep(POLL_INTERVAL.toMillis());
    }
  }
}
