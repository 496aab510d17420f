// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import java.util.function.LongSupplier;
import org.apache.flink.annotation.Internal;

/**
 * The time that the thread of a chain spends sending: the time of all calls that emit batches or
 * rows, with the work of downstream operators in the chain and of the network writers. Used by the
 * chain's thread.
 */
@Internal
public final class SendTime {
  private final LongSupplier clockMillis;
  private boolean sending;
  private long startedMillis;
  private long totalMillis;

  /**
   * @param clockMillis the processing time in milliseconds
   */
  SendTime(LongSupplier clockMillis) {
    this.clockMillis = clockMillis;
  }

  /** Runs {@code send} and adds its time; a nested call adds no time of its own. */
  public void measure(Runnable send) {
    if (sending) {
      send.run();
      return;
    }
    startedMillis = clockMillis.getAsLong();
    sending = true;
    try {
      send.run();
    } finally {
      totalMillis = millis();
      sending = false;
    }
  }

  /** The time so far in milliseconds, including the current call; never decreases. */
  long millis() {
    // If the clock was set back, the time is unknown.
    return sending
        ? totalMillis + Math.max(0, clockMillis.getAsLong() - startedMillis)
        : totalMillis;
  }
}
