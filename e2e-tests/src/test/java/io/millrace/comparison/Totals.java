// SPDX-License-Identifier: Apache-2.0
package io.millrace.comparison;

import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.accumulators.LongMaximum;
import org.apache.flink.api.common.functions.RuntimeContext;

/**
 * What the results of a job add up to: the same for each job over the same rows, however often a
 * changelog updates a row.
 */
final class Totals {
  static final String ROWS = "rows of all results";
  static final String SUM = "sum of all results";
  static final String CHANGES = "rows that came out";
  static final String END = "end";

  private long rows;
  private long sum;
  private long changes;

  /** Adds a result, or takes it back if {@code sign} is -1. */
  void add(int sign, long count, long total) {
    rows += sign * count;
    sum += sign * total;
    changes++;
  }

  /** Reports the totals, and now as the end of the job. */
  void report(RuntimeContext context) {
    context.addAccumulator(ROWS, new LongCounter(rows));
    context.addAccumulator(SUM, new LongCounter(sum));
    context.addAccumulator(CHANGES, new LongCounter(changes));
    context.addAccumulator(END, new LongMaximum(System.nanoTime()));
  }
}
