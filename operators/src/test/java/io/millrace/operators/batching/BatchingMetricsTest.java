// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.testing.RecordingMetricGroup;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Histogram;
import org.junit.jupiter.api.Test;

class BatchingMetricsTest {
  private final RecordingMetricGroup metrics = new RecordingMetricGroup();

  private long count(String name) {
    return ((Counter) metrics.metrics().get("batching." + name)).getCount();
  }

  private Object gauge(String name) {
    return metrics.gauge("batching." + name);
  }

  @Test
  void eachBatchIsCountedWithItsCauseFillAndLatency() {
    BatchingMetrics batching = new BatchingMetrics(metrics, 100, () -> 64);
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
    Histogram latency = (Histogram) metrics.metrics().get("batching.latencyMillis");
    assertThat(latency.getStatistics().getMax()).isEqualTo(19);
    assertThat(metrics.metrics()).hasSize(6 + FlushCause.values().length);
  }
}
