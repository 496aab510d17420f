// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.testing.RecordingMetricGroup;
import org.apache.flink.metrics.Counter;
import org.junit.jupiter.api.Test;

class UnbatchingMetricsTest {
  private final RecordingMetricGroup metrics = new RecordingMetricGroup();

  private long count(String name) {
    return ((Counter) metrics.metrics().get("unbatching." + name)).getCount();
  }

  @Test
  void rowsAndBatchesAreCounted() {
    UnbatchingMetrics unbatching = new UnbatchingMetrics(metrics);
    unbatching.count(50);
    unbatching.count(0);
    assertThat(count("rows")).isEqualTo(50);
    assertThat(count("batches")).isEqualTo(2);
  }
}
