// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.memory.FirstFailure;
import io.millrace.state.StateTable;
import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/**
 * Windows of processing time that were due when a subtask was restored: those that fired in one
 * subtask before its barrier, and not in another whose rows the restored subtask has too. They are
 * taken when the rows that they are without have not been read yet, and wait to be emitted, since a
 * restore emits nothing.
 */
final class RestoredWindows implements AutoCloseable {
  private final NavigableMap<Long, StateTable> rows = new TreeMap<>();

  /** Takes the windows that end by a processing time, and drops the slices that are past then. */
  void fire(SliceTables slices, long time) {
    if (time <= slices.watermark()) {
      return;
    }
    for (OptionalLong end = slices.nextWindowEnd(time);
        end.isPresent();
        end = slices.nextWindowEnd(time)) {
      rows.put(end.getAsLong(), slices.merged(end.getAsLong()));
      slices.pass(end.getAsLong());
    }
    slices.advance(time);
  }

  boolean isEmpty() {
    return rows.isEmpty();
  }

  /**
   * Hands the windows to {@code consumer}, in the order of their ends, and gives them up.
   *
   * @param consumer takes the rows and the end of a window; the rows are valid until it returns
   */
  void emit(BiConsumer<StateTable, Long> consumer) {
    while (!rows.isEmpty()) {
      Map.Entry<Long, StateTable> first = rows.pollFirstEntry();
      try (StateTable window = first.getValue()) {
        consumer.accept(window, first.getKey());
      }
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    rows.values().forEach(window -> failure.run(window::close));
    rows.clear();
    failure.rethrow();
  }
}
