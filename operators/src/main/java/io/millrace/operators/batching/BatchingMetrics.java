// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import io.millrace.operators.context.EventLine;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntSupplier;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.metrics.DescriptiveStatisticsHistogram;

/**
 * The metrics of a batching operator in the group {@code batching}: counters {@code rows}, {@code
 * batches}, {@code bytes} and {@code flush.<cause>}; the histogram {@code latencyMillis}, the age
 * of each batch's oldest row when it was sent; the gauges {@code rowLimit} and {@code batchFill},
 * the last batch's rows divided by {@link BatchOptions#maxRows}. Logs when most batches are closed
 * for another cause than before.
 */
final class BatchingMetrics {
  private static final String GROUP = "batching";
  private static final int HISTOGRAM_WINDOW = 1_024;

  private final Counter rows;
  private final Counter batches;
  private final Counter bytes;
  private final Map<FlushCause, Counter> flushes = new EnumMap<>(FlushCause.class);
  private final FlushCauses causes = new FlushCauses();
  private final Histogram latencyMillis;
  private final String operator;
  private final int maxRows;
  private volatile double batchFill;

  BatchingMetrics(MetricGroup operator, int maxRows, IntSupplier rowLimit) {
    this.operator = operator.getMetricIdentifier("");
    MetricGroup group = operator.addGroup(GROUP);
    this.rows = group.counter("rows");
    this.batches = group.counter("batches");
    this.bytes = group.counter("bytes");
    MetricGroup flushGroup = group.addGroup("flush");
    for (FlushCause cause : FlushCause.values()) {
      flushes.put(cause, flushGroup.counter(name(cause)));
    }
    this.latencyMillis =
        group.histogram("latencyMillis", new DescriptiveStatisticsHistogram(HISTOGRAM_WINDOW));
    this.maxRows = maxRows;
    group.<Integer, Gauge<Integer>>gauge("rowLimit", rowLimit::getAsInt);
    group.<Double, Gauge<Double>>gauge("batchFill", () -> batchFill);
  }

  void count(FlushCause cause, int batchRows, long batchBytes, long oldestRowMillis) {
    flushes.get(cause).inc();
    rows.inc(batchRows);
    batches.inc();
    bytes.inc(batchBytes);
    latencyMillis.update(oldestRowMillis);
    batchFill = (double) batchRows / maxRows;
    causes.add(cause).ifPresent(this::log);
  }

  private void log(FlushCauses.Change change) {
    new EventLine("flush_cause")
        .with("operator", operator)
        .with("before", change.before() == null ? "" : name(change.before()))
        .with("after", name(change.after()))
        .with("percent", 100L * change.count() / FlushCauses.WINDOW)
        .log();
  }

  private static String name(FlushCause cause) {
    return cause.name().toLowerCase(Locale.ROOT);
  }
}
