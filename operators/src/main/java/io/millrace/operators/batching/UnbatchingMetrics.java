// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;

/**
 * The metrics of an operator that makes rows or Arrow roots of batches, in the group {@code
 * unbatching}: the counters {@code rows} and {@code batches}.
 */
final class UnbatchingMetrics {
  private static final String GROUP = "unbatching";

  private final Counter rows;
  private final Counter batches;

  UnbatchingMetrics(MetricGroup operator) {
    MetricGroup group = operator.addGroup(GROUP);
    this.rows = group.counter("rows");
    this.batches = group.counter("batches");
  }

  /** Counts a batch whose rows were sent. */
  void count(int batchRows) {
    rows.inc(batchRows);
    batches.inc();
  }
}
