// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import java.util.function.LongSupplier;
import org.apache.flink.annotation.Internal;

/**
 * How long the thread of a chain was busy with sending: with the work that batches and rows cause
 * when they are emitted, up to the network. Used by the chain's thread.
 */
@Internal
public final class SendTime {
  private final LongSupplier clockMillis;
  private boolean sending;
  private long startedMillis;
  private long totalMillis;

  /**
   * @param clockMillis processing time
   */
  SendTime(LongSupplier clockMillis) {
    this.clockMillis = clockMillis;
  }

  /** Runs {@code sending}; the time of a nested call counts once. */
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

  /** The milliseconds so far, including the current call; never decreases. */
  long millis() {
    // If the clock was set back, the time is unknown.
    return sending
        ? totalMillis + Math.max(0, clockMillis.getAsLong() - startedMillis)
        : totalMillis;
  }
}
