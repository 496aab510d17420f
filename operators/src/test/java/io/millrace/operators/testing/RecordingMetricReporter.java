// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;

/**
 * Records the current metrics of {@link FlinkCluster}, of all its jobs, and the counters of
 * subtasks that have ended.
 */
public final class RecordingMetricReporter implements MetricReporter {
  private static final Map<Metric, String> NAMES = new ConcurrentHashMap<>();
  private static final Map<Metric, String> ENDED = new ConcurrentHashMap<>();

  private RecordingMetricReporter() {}

  /** The gauges whose name within their task or operator is {@code name}. */
  public static List<Gauge<?>> gauges(String name) {
    return NAMES.entrySet().stream()
        .filter(metric -> metric.getValue().endsWith("." + name))
        .<Gauge<?>>map(metric -> (Gauge<?>) metric.getKey())
        .toList();
  }

  /**
   * The sum of a counter over all subtasks, including subtasks that have ended.
   *
   * @param job the job's name
   * @param operator the name of the operator or task
   */
  public static long count(String job, String operator, String name) {
    return Stream.concat(NAMES.entrySet().stream(), ENDED.entrySet().stream())
        .filter(metric -> metric.getValue().contains("." + job + "." + operator + "."))
        .filter(metric -> metric.getValue().endsWith("." + name))
        .map(Map.Entry::getKey)
        .distinct()
        .mapToLong(metric -> ((Counter) metric).getCount())
        .sum();
  }

  /** The identifiers of the metrics that there are, and of counters of subtasks that have ended. */
  public static List<String> identifiers() {
    return Stream.concat(NAMES.values().stream(), ENDED.values().stream()).toList();
  }

  @Override
  public void open(MetricConfig config) {}

  @Override
  public void close() {}

  @Override
  public void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
    NAMES.put(metric, group.getMetricIdentifier(name));
  }

  @Override
  public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {
    // Kafka's sink has one counter under several names.
    String lastName = NAMES.remove(metric);
    if (metric instanceof Counter && lastName != null) {
      ENDED.put(metric, lastName);
    }
  }

  /** Makes the reporter. Flink finds this factory as a service. */
  public static final class Factory implements MetricReporterFactory {
    @Override
    public MetricReporter createMetricReporter(Properties properties) {
      return new RecordingMetricReporter();
    }
  }
}
