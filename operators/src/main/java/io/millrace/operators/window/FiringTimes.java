// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;

/**
 * The watermarks that end windows of local time. A window fires at the first watermark behind which
 * no instant has a local time in it: where the clock is set back, local times come twice, and the
 * second time counts; where it is set forward, windows that end in the skipped time fire when the
 * clock is set. A later window never fires earlier.
 *
 * <p>These are Flink's times in zones that have summer time now, where the clock changes by an hour
 * at a full hour of UTC. Elsewhere a window of Flink may fire before an earlier window, or before
 * its last row.
 */
final class FiringTimes {
  private final ZoneRules rules;

  /**
   * @param zone of the windows
   */
  FiringTimes(ZoneId zone) {
    rules = zone.getRules();
  }

  /**
   * The least watermark that ends the window, in milliseconds since 1970-01-01T00:00Z.
   *
   * @param windowEnd in milliseconds of local time since 1970-01-01T00:00
   */
  long of(long windowEnd) {
    long last = windowEnd - 1;
    if (rules.isFixedOffset()) {
      return last - millis(rules.getOffset(Instant.EPOCH));
    }
    LocalDateTime local = LocalDateTime.ofInstant(Instant.ofEpochMilli(last), ZoneOffset.UTC);
    ZoneOffsetTransition change = rules.getTransition(local);
    if (change == null) {
      return last - millis(rules.getOffset(local));
    }
    return change.isGap()
        ? change.getInstant().toEpochMilli()
        : last - millis(change.getOffsetAfter());
  }

  private static long millis(ZoneOffset offset) {
    return offset.getTotalSeconds() * 1_000L;
  }
}
