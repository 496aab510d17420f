// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.PublicEvolving;
import io.millrace.memory.retry.Splittable;
import java.util.List;
import java.util.function.Consumer;

/**
 * Rows of a state table, by number.
 *
 * @param first row
 * @param count of rows
 */
@PublicEvolving
public record RowRange(long first, int count) implements Splittable<RowRange> {

  /** Hands the rows of a table to {@code consumer}, in ranges of {@code most} rows at most. */
  public static void forAll(long rowCount, int most, Consumer<RowRange> consumer) {
    for (long row = 0; row < rowCount; row += most) {
      consumer.accept(new RowRange(row, (int) Math.min(most, rowCount - row)));
    }
  }

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
