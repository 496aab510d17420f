package io.millrace.operators.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Histogram;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.junit.jupiter.api.Test;

class BatchingMetricsTest {
  private final Map<String, Metric> metrics = new TreeMap<>();

  /** Keeps each metric under its full name. */
  private final class NamedGroup extends UnregisteredMetricsGroup {
    private final String path;

    private NamedGroup(String path) {
      this.path = path;
    }

    @Override
    public MetricGroup addGroup(String name) {
      return new NamedGroup(path + name + ".");
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

  private long count(String name) {
    return ((Counter) metrics.get("batching." + name)).getCount();
  }

  private Object gauge(String name) {
    return ((Gauge<?>) metrics.get("batching." + name)).getValue();
  }

  @Test
  void eachBatchIsCountedWithItsCauseFillAndLatency() {
    BatchingMetrics batching = new BatchingMetrics(new NamedGroup(""), 100, () -> 64);
    batching.count(FlushCause.ROWS, 50, 4_000, 7);
    batching.count(FlushCause.DEADLINE, 25, 2_000, 19);
    assertThat(count("rows")).isEqualTo(75);
    assertThat(count("batches")).isEqualTo(2);
    assertThat(count("bytes")).isEqualTo(6_000);
    assertThat(count("flush.rows")).isEqualTo(1);
    assertThat(count("flush.deadline")).isEqualTo(1);
    assertThat(count("flush.watermark_status")).isZero();
    assertThat(gauge("batchFill")).isEqualTo(0.25);
    assertThat(gauge("rowLimit")).isEqualTo(64);
    Histogram latency = (Histogram) metrics.get("batching.latencyMillis");
    assertThat(latency.getStatistics().getMax()).isEqualTo(19);
    assertThat(metrics).hasSize(6 + FlushCause.values().length);
  }
}
