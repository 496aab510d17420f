// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import java.util.Comparator;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * The most frequent cause of flushes, which says what limits batches: the input's rate, the
 * latency, watermarks or a slow consumer. It is found again for each {@link #WINDOW} flushes.
 */
final class FlushCauses {
  /** How many flushes are looked at together. */
  static final int WINDOW = 64;

  private final Map<FlushCause, Integer> counts = new EnumMap<>(FlushCause.class);
  private int flushes;
  private FlushCause usual;

  /**
   * Most flushes of a window have another cause than most of the window before.
   *
   * @param before the cause of most flushes before; null for the first window
   * @param after the cause of most flushes now
   * @param count of flushes with it
   */
  record Change(FlushCause before, FlushCause after, int count) {}

  /** Adds a flush; returns the change if it ends a window with one. */
  Optional<Change> add(FlushCause cause) {
    counts.merge(cause, 1, Integer::sum);
    if (++flushes < WINDOW) {
      return Optional.empty();
    }
    FlushCause most =
        counts.entrySet().stream()
            .max(Comparator.comparing(Map.Entry::getValue))
            .orElseThrow()
            .getKey();
    int count = counts.get(most);
    FlushCause before = usual;
    usual = most;
    flushes = 0;
    counts.clear();
    return most == before ? Optional.empty() : Optional.of(new Change(before, most, count));
  }
}
