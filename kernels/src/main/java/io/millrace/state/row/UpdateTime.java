// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.PublicEvolving;

/**
 * When an update takes place, in milliseconds since the epoch.
 *
 * @param now the time that the keys of the batch get
 * @param oldest rows of the state with an earlier time have expired
 */
@PublicEvolving
public record UpdateTime(long now, long oldest) {
  /**
   * Rows expire {@code timeToLive} milliseconds after their time, as in Flink: at that millisecond.
   *
   * @param timeToLive at least 1
   */
  public static UpdateTime of(long now, long timeToLive) {
    // A sum that wraps is that of a time to live that is longer than all times.
    long oldest = now - timeToLive + 1;
    return new UpdateTime(now, oldest > now ? Long.MIN_VALUE : oldest);
  }
}
