// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.window;

import io.millrace.parity.CollectedRows;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.types.Row;

/** Holds rows back until the rows before them have given results. Parallelism 1. */
final class EarlyRows implements MapFunction<Row, Row> {
  private static final long serialVersionUID = 1L;
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final int rowsBefore;
  private final List<CollectedRows> expected = new ArrayList<>();
  private int rows;

  /**
   * @param rowsBefore that are let through at once
   */
  EarlyRows(int rowsBefore) {
    this.rowsBefore = rowsBefore;
  }

  /** Adds results that must have a row before further rows are let through. */
  CollectedRows expect(CollectedRows results) {
    expected.add(results);
    return results;
  }

  @Override
  public Row map(Row row) throws Exception {
    if (rows == rowsBefore) {
      await();
    }
    rows++;
    return row;
  }

  private void await() throws InterruptedException {
    long end = System.nanoTime() + LIMIT.toNanos();
    while (!expected.stream().allMatch(CollectedRows::isAny)) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException("expected early results of both within " + LIMIT);
      }
      Thread.sleep(1);
    }
  }
}
