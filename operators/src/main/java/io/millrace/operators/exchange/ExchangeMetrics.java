// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.metrics.DescriptiveStatisticsHistogram;

/**
 * The metrics of an operator of an exchange, in the group {@code exchange}: the counters {@code
 * rows}, {@code batches} and {@code bytes} of the batches that it sends, and the histogram {@code
 * rowsPerBatch}.
 */
final class ExchangeMetrics {
  private static final String GROUP = "exchange";
  private static final int HISTOGRAM_WINDOW = 1_024;

  private final Counter rows;
  private final Counter batches;
  private final Counter bytes;
  private final Histogram rowsOfBatch;

  ExchangeMetrics(MetricGroup operator) {
    MetricGroup group = operator.addGroup(GROUP);
    rows = group.counter("rows");
    batches = group.counter("batches");
    bytes = group.counter("bytes");
    rowsOfBatch =
        group.histogram("rowsPerBatch", new DescriptiveStatisticsHistogram(HISTOGRAM_WINDOW));
  }

  void count(int batchRows, long batchBytes) {
    rows.inc(batchRows);
    batches.inc();
    bytes.inc(batchBytes);
    rowsOfBatch.update(batchRows);
  }
}
