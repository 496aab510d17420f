// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import java.io.Serializable;
import org.apache.flink.annotation.Internal;

/**
 * The generated events. Equal configurations give equal events.
 *
 * @param seed another seed gives other values at the same event times
 * @param firstEventMillis event time of event 0, in milliseconds since 1970-01-01T00:00
 * @param eventsPerSecond of event time; independent of the rate at which they are emitted
 */
@Internal
public record NexmarkConfiguration(long seed, long firstEventMillis, long eventsPerSecond)
    implements Serializable {
  /** 2015-07-15T00:00:00, the benchmark's usual start, and 10 000 events a second. */
  public static final NexmarkConfiguration DEFAULT =
      new NexmarkConfiguration(0, 1_436_918_400_000L, 10_000);

  public NexmarkConfiguration {
    if (eventsPerSecond < 1) {
      throw new IllegalArgumentException(eventsPerSecond + " events a second");
    }
  }

  public NexmarkConfiguration withSeed(long other) {
    return new NexmarkConfiguration(other, firstEventMillis, eventsPerSecond);
  }
}
