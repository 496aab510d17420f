// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import io.millrace.operators.state.StateTtl;
import java.time.Duration;
import java.util.Random;
import org.apache.flink.streaming.api.TimeDomain;

/** The clock by which a model forgets keys. */
final class TtlClock {
  /** The first watermark of each source, so that each subtask has the same first one. */
  private static final long FIRST_WATERMARK = 1;

  private final StateTtl stateTtl;
  private long time;

  TtlClock(StateTtl stateTtl) {
    this.stateTtl = stateTtl;
    this.time = stateTtl.isEventTime() ? Long.MIN_VALUE : 0;
  }

  /** The time-to-live of a simulated operator: none, or one in either domain. */
  static StateTtl randomTtl(Duration duration, Random random) {
    return switch (random.nextInt(3)) {
      case 0 -> StateTtl.NONE;
      case 1 -> new StateTtl(duration, TimeDomain.PROCESSING_TIME);
      default -> new StateTtl(duration, TimeDomain.EVENT_TIME);
    };
  }

  static long nextWatermark(long previous, Random random) {
    return previous < FIRST_WATERMARK ? FIRST_WATERMARK : previous + 1 + random.nextInt(50);
  }

  void processingTime(long timestamp) {
    if (!stateTtl.isEventTime()) {
      time = timestamp;
    }
  }

  /** A watermark of the subtask, or that of the checkpoint with which it begins. */
  void watermark(long timestamp) {
    if (stateTtl.isEventTime() && timestamp < Long.MAX_VALUE) {
      time = timestamp;
    }
  }

  /** The time of a row of now. */
  long now() {
    return time;
  }

  /** Whether a key with this time is forgotten. */
  boolean hasExpired(long rowTime) {
    if (stateTtl.isNone() || time == Long.MIN_VALUE) {
      return false;
    }
    long counted = stateTtl.isEventTime() ? Math.max(rowTime, FIRST_WATERMARK) : rowTime;
    return counted + stateTtl.duration().toMillis() <= time;
  }
}
