// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.memory.retry.Splittable;
import java.util.List;

/** Rows of a state table, by number. */
record RowRange(long first, int count) implements Splittable<RowRange> {

  @Override
  public List<RowRange> halves() {
    int half = count / 2;
    return half == 0
        ? List.of()
        : List.of(new RowRange(first, half), new RowRange(first + half, count - half));
  }

  @Override
  public void close() {}
}
