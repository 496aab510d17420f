// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Keeps the rows of each window, and sums them when the watermark passes its end. */
final class WindowModel {
  private final long size;
  private final long step;
  private final boolean cumulates;
  // By the end and the start of the window.
  private final TreeMap<Long, TreeMap<Long, Map<Long, long[]>>> windows = new TreeMap<>();
  private long watermark = Long.MIN_VALUE;
  private long lateRows;

  WindowModel(long size, long step, boolean cumulates) {
    this.size = size;
    this.step = step;
    this.cumulates = cumulates;
  }

  void add(long key, int value, long time) {
    boolean isLate = true;
    long first = Math.floorDiv(time, step) * step + step;
    long last = cumulates ? Math.floorDiv(time, size) * size + size : first - step + size;
    for (long end = first; end <= last; end += step) {
      if (end - 1 > watermark) {
        isLate = false;
        long start = cumulates ? Math.floorDiv(time, size) * size : end - size;
        long[] sums =
            windows
                .computeIfAbsent(end, absent -> new TreeMap<>())
                .computeIfAbsent(start, absent -> new TreeMap<>())
                .computeIfAbsent(key, absent -> new long[2]);
        sums[0]++;
        sums[1] += value;
      }
    }
    lateRows += isLate ? 1 : 0;
  }

  /** The rows of the windows that end, in any order within a window. */
  List<String> results(long newWatermark) {
    List<String> results = new ArrayList<>();
    watermark = Math.max(watermark, newWatermark);
    while (!windows.isEmpty() && windows.firstKey() - 1 <= watermark) {
      long end = windows.firstKey();
      windows
          .remove(end)
          .forEach(
              (start, keys) ->
                  keys.forEach(
                      (key, sums) ->
                          results.add(
                              "[" + key + ", " + sums[0] + ", " + sums[1] + "] " + start + ".."
                                  + end)));
    }
    return results;
  }

  long lateRows() {
    return lateRows;
  }
}
