// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Keeps the sessions of keys, and sums their rows until the watermark passes their end. */
final class SessionModel {
  private final long gap;
  private final Map<Long, List<Sums>> sessions = new HashMap<>();
  private long watermark = Long.MIN_VALUE;
  private long lateRows;

  /** A row of a key. */
  record Row(long key, int value, long time) {}

  private record Sums(long first, long last, long rows, long sum) {
    boolean touches(Sums other, long gap) {
      return first - other.last <= gap && other.first - last <= gap;
    }

    Sums with(Sums other) {
      return new Sums(
          Math.min(first, other.first),
          Math.max(last, other.last),
          rows + other.rows,
          sum + other.sum);
    }
  }

  SessionModel(long gap) {
    this.gap = gap;
  }

  private boolean hasEnded(long last) {
    return last + gap - 1 <= watermark;
  }

  /** Adds the rows of a batch: those that are late by themselves behind the others. */
  void add(List<Row> batch) {
    List<Row> late = new ArrayList<>();
    for (Row row : batch) {
      if (hasEnded(row.time)) {
        late.add(row);
      } else {
        add(row);
      }
    }
    while (late.removeIf(this::addToOpen)) {
      // Further rows may touch what these rows made larger.
    }
    lateRows += late.size();
  }

  private boolean addToOpen(Row row) {
    boolean touches = of(row.key).stream().anyMatch(open -> open.touches(sums(row), gap));
    if (touches) {
      add(row);
    }
    return touches;
  }

  private static Sums sums(Row row) {
    return new Sums(row.time, row.time, 1, row.value);
  }

  private List<Sums> of(long key) {
    return sessions.computeIfAbsent(key, absent -> new ArrayList<>());
  }

  private void add(Row row) {
    Sums merged = sums(row);
    List<Sums> others = new ArrayList<>();
    for (Sums open : of(row.key)) {
      if (open.touches(sums(row), gap)) {
        merged = merged.with(open);
      } else {
        others.add(open);
      }
    }
    others.add(merged);
    sessions.put(row.key, others);
  }

  /** The rows of the sessions that end, in any order. */
  List<String> results(long newWatermark) {
    watermark = Math.max(watermark, newWatermark);
    List<String> results = new ArrayList<>();
    sessions.forEach(
        (key, open) ->
            open.removeIf(
                sums -> {
                  if (hasEnded(sums.last)) {
                    results.add(
                        "["
                            + key
                            + ", "
                            + sums.rows
                            + ", "
                            + sums.sum
                            + "] "
                            + sums.first
                            + ".."
                            + (sums.last + gap));
                  }
                  return hasEnded(sums.last);
                }));
    return results;
  }

  long lateRows() {
    return lateRows;
  }
}
