package io.millrace.operators.testing;

import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;

/** Knows the metrics that {@link FlinkCluster} has now, of all jobs. */
public final class RecordingMetricReporter implements MetricReporter {
  private static final Map<Metric, String> NAMES = new ConcurrentHashMap<>();

  private RecordingMetricReporter() {}

  /** The gauges whose name within their task or operator is {@code name}. */
  public static List<Gauge<?>> gauges(String name) {
    return NAMES.entrySet().stream()
        .filter(metric -> metric.getValue().endsWith("." + name))
        .<Gauge<?>>map(metric -> (Gauge<?>) metric.getKey())
        .toList();
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
    NAMES.remove(metric);
  }

  /** Makes the reporter; found by Flink as a service. */
  public static final class Factory implements MetricReporterFactory {
    @Override
    public MetricReporter createMetricReporter(Properties properties) {
      return new RecordingMetricReporter();
    }
  }
}
