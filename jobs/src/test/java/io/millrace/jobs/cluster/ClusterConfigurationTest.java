// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.configuration.MemorySize;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClusterConfigurationTest {
  @TempDir private Path path;

  @Test
  void processesReadWhatWasWritten() throws Exception {
    ClusterFolder folder = new ClusterFolder(path);
    folder.create();
    Map<String, String> options =
        Map.of(
            "millrace.device", "cuda",
            "millrace.device.index", "1",
            "env.java.opts.taskmanager", "-Da='b: c' -Dd=#e");
    Configuration written =
        ClusterConfiguration.write(
            folder,
            new ClusterSettings(
                0, 1, 2, MemorySize.parse("2g"), List.of(), Optional.empty(), options));

    Configuration read = GlobalConfiguration.loadConfiguration(folder.configuration().toString());
    assertThat(read.toMap()).containsAllEntriesOf(options).containsAllEntriesOf(written.toMap());
  }

  @ParameterizedTest
  @ValueSource(strings = {"rest.port", "rest.bind-port"})
  void onlyOneOptionIsForThePort(String option) {
    assertThatThrownBy(() -> write(Optional.empty(), Map.of(option, "9000")))
        .isInstanceOf(ClusterException.class)
        .hasMessage("'" + option + "' is what --port is for");
  }

  @Test
  void portsOfMetricsAreFree() throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      // The TaskManager's.
      assertThatThrownBy(() -> write(Optional.of(taken.getLocalPort() - 1), Map.of()))
          .isInstanceOf(ClusterException.class)
          .hasMessageContaining("cannot be used");
    }
    assertThatThrownBy(() -> write(Optional.of(0), Map.of()))
        .isInstanceOf(ClusterException.class)
        .hasMessage("expected a --metrics-port from 1, got 0");
  }

  private void write(Optional<Integer> metricsPort, Map<String, String> options) throws Exception {
    ClusterFolder folder = new ClusterFolder(path);
    folder.create();
    ClusterConfiguration.write(
        folder,
        new ClusterSettings(0, 1, 2, MemorySize.parse("2g"), List.of(), metricsPort, options));
  }
}
