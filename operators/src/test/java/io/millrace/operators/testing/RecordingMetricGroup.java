// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;

/** Keeps each metric under its full name, such as {@code batching.flush.rows}. */
public final class RecordingMetricGroup extends UnregisteredMetricsGroup {
  private final Map<String, Metric> metrics;
  private final String path;

  public RecordingMetricGroup() {
    this(new TreeMap<>(), "");
  }

  private RecordingMetricGroup(Map<String, Metric> metrics, String path) {
    this.metrics = metrics;
    this.path = path;
  }

  /** All metrics of this group and of its subgroups, by full name. */
  public Map<String, Metric> metrics() {
    return metrics;
  }

  /** The value of the gauge with this full name. */
  public Object gauge(String name) {
    return ((Gauge<?>) metrics.get(name)).getValue();
  }

  @Override
  public MetricGroup addGroup(String name) {
    return new RecordingMetricGroup(metrics, path + name + ".");
  }

  @Override
  public Counter counter(String name) {
    Counter counter = super.counter(name);
    metrics.put(path + name, counter);
    return counter;
  }

  @Override
  public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
    metrics.put(path + name, gauge);
    return gauge;
  }

  @Override
  public <H extends Histogram> H histogram(String name, H histogram) {
    metrics.put(path + name, histogram);
    return histogram;
  }
}
