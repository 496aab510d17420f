// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.memory.SpillTier;
import io.millrace.memory.spill.SpillStatistics;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Finds bursts of spilling of a job: moves between tiers with less than {@link #QUIET} between
 * them. Not thread-safe.
 */
final class SpillBurst {
  /** The time without moves that ends a burst. */
  static final Duration QUIET = Duration.ofSeconds(1);

  private final String job;
  private final SpillStatistics statistics;
  private Map<String, Long> before;
  private Map<String, Long> last;
  private long startNanos;
  private long lastNanos;

  SpillBurst(String job, SpillStatistics statistics) {
    this.job = job;
    this.statistics = statistics;
    this.last = bytes();
  }

  /**
   * Looks at what was moved since the last call.
   *
   * @return a line about the burst that has ended, if one has
   */
  Optional<EventLine> observe(long nowNanos) {
    Map<String, Long> now = bytes();
    boolean moved = !now.equals(last);
    if (moved) {
      if (before == null) {
        before = last;
        startNanos = nowNanos;
      }
      last = now;
      lastNanos = nowNanos;
      return Optional.empty();
    }
    return before != null && nowNanos - lastNanos >= QUIET.toNanos()
        ? Optional.of(end())
        : Optional.empty();
  }

  private EventLine end() {
    EventLine line =
        new EventLine("spill_burst")
            .with("job", job)
            .with("millis", Duration.ofNanos(lastNanos - startNanos).toMillis());
    last.forEach(
        (tiers, bytes) -> {
          if (bytes > before.get(tiers)) {
            line.with(tiers + "_bytes", bytes - before.get(tiers));
          }
        });
    before = null;
    return line;
  }

  /** The bytes that were moved from one tier to another, by names as {@code gpu_to_cpu}. */
  private Map<String, Long> bytes() {
    Map<String, Long> bytes = new LinkedHashMap<>();
    for (SpillTier from : SpillTier.values()) {
      for (SpillTier to : SpillTier.values()) {
        if (from != to) {
          bytes.put(from.label() + "_to_" + to.label(), statistics.bytes(from, to));
        }
      }
    }
    return bytes;
  }
}
