// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.Device;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.SpillTier;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RecordingMetricGroup;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(NothingHeldExtension.class)
class MemoryMetricsTest {
  @TempDir private Path directory;

  @Test
  void tiersTransfersAndExposuresAreReported() {
    Configuration options =
        Configuration.fromMap(
            Map.of(
                "millrace.spill.device-limit", "4 kb",
                "millrace.spill.host-limit", "4 kb",
                "millrace.spill.statistics-level", "2"));
    ChainResources chain =
        ChainResources.acquire(
            this,
            new JobEnvironment(
                directory,
                "a",
                new LayeredOptions(options, new Configuration()),
                List.of(directory),
                Optional.empty()),
            Device::current);
    RecordingMetricGroup metrics = new RecordingMetricGroup();
    MemoryMetrics.register(metrics, chain.resource().quota(), chain.device());

    List<Buffer> buffers = List.of(buffer(chain), buffer(chain), buffer(chain));
    assertThat(metrics.gauge("memory.deviceBytes")).isEqualTo(4096L);
    assertThat(metrics.gauge("memory.hostBytes")).isEqualTo(4096L);
    assertThat(metrics.gauge("memory.diskBytes")).isEqualTo(4096L);
    long stagingBytes = (Long) metrics.gauge("memory.stagingBytes");
    StagingBuffer staging = chain.device().stagingPool().acquire(2 * stagingBytes + 1);
    assertThat((Long) metrics.gauge("memory.stagingBytes"))
        .isEqualTo(stagingBytes + staging.capacity());
    staging.close();
    assertThat(metrics.gauge("spill.gpu_to_cpu.count")).isEqualTo(2L);
    assertThat(metrics.gauge("spill.gpu_to_cpu.bytes")).isEqualTo(8192L);
    assertThat(metrics.gauge("spill.cpu_to_disk.count")).isEqualTo(1L);
    assertThat(metrics.gauge("spill.disk_to_gpu.count")).isEqualTo(0L);
    assertThat((Long) metrics.gauge("spill.gpu_to_cpu.millis")).isNotNegative();

    try (AccessScope scope = AccessScope.on(chain.stream())) {
      buffers.get(2).expose(scope);
    }
    assertThat(metrics.gauge("spill.exposures.count")).isEqualTo(1L);
    assertThat(metrics.gauge("spill.exposures.bytes")).isEqualTo(4096L);
    int directions = SpillTier.values().length * (SpillTier.values().length - 1) - 1;
    assertThat(metrics.metrics()).hasSize(4 + 3 * directions + 2);
    buffers.forEach(Buffer::close);
    chain.release();
  }

  private static Buffer buffer(ChainResources chain) {
    return Buffer.allocate(4096, chain.stream(), chain.resource());
  }
}
