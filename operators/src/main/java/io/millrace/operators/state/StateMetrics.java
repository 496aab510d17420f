// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/**
 * The metrics of an operator's keyed state, in its group {@code state}: the gauges {@code rows}, of
 * keys that are present or were, and {@code bytes} of rows, long strings and index, with their room
 * for further keys.
 */
final class StateMetrics {
  private StateMetrics() {}

  /** Registers the metrics of {@code state}, until Flink closes {@code operator}. */
  static void register(MetricGroup operator, StateTables state) {
    MetricGroup group = operator.addGroup("state");
    group.<Long, Gauge<Long>>gauge("rows", state::rowCount);
    group.<Long, Gauge<Long>>gauge("bytes", state::reservedBytes);
  }
}
