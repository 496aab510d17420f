// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/**
 * The metrics of an operator's keyed state, in its group {@code state}: the gauges {@code rows}, of
 * keys that are present or were, {@code bytes} of rows, long strings and index, with their room for
 * further keys, {@code indexLoad}, the part of the index that is in use, and {@code copiedBytes}
 * and {@code copiedExtents}, of extents that batches changed while a checkpoint held them, and so
 * were copied. If rows expire, also {@code ttl}, the time in milliseconds after which they do, and
 * {@code expiredRows}, the number of rows that were removed.
 */
final class StateMetrics {
  private StateMetrics() {}

  /**
   * Registers the metrics of {@code states}, until Flink closes {@code operator}.
   *
   * @param timeToLive in milliseconds, if rows expire
   */
  static void register(MetricGroup operator, KeyedStates states, long timeToLive) {
    MetricGroup group = operator.addGroup("state");
    group.<Long, Gauge<Long>>gauge("rows", states::rowCount);
    group.<Long, Gauge<Long>>gauge("bytes", states::reservedBytes);
    group.<Double, Gauge<Double>>gauge("indexLoad", states::indexLoad);
    group.<Long, Gauge<Long>>gauge("copiedBytes", () -> states.copied().bytes());
    group.<Long, Gauge<Long>>gauge("copiedExtents", () -> states.copied().count());
    if (states.haveTime()) {
      group.<Long, Gauge<Long>>gauge("ttl", () -> timeToLive);
      group.<Long, Gauge<Long>>gauge("expiredRows", states::expiredRows);
    }
  }
}
