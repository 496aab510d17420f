// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;

class EtlEnvironmentTest {
  private static StreamExecutionEnvironment cluster() {
    Configuration cluster = new Configuration();
    cluster.set(CoreOptions.DEFAULT_PARALLELISM, 7);
    cluster.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(60));
    return StreamExecutionEnvironment.createLocalEnvironment(cluster);
  }

  @Test
  void aClusterKeepsItsSettingsUnlessTheUserGivesOthers() {
    StreamExecutionEnvironment environment = cluster();
    EtlEnvironment.completeOnCluster(environment, EtlOptions.parse(Map.of()));
    assertThat(environment.getParallelism()).isEqualTo(7);
    assertThat(environment.getCheckpointConfig().getCheckpointInterval()).isEqualTo(60_000);
    EtlEnvironment.completeOnCluster(
        environment, EtlOptions.parse(Map.of("parallelism", "3", "checkpoint.interval", "4s")));
    assertThat(environment.getParallelism()).isEqualTo(3);
    assertThat(environment.getCheckpointConfig().getCheckpointInterval()).isEqualTo(4_000);
  }

  @Test
  void aClusterWithoutCheckpointsGetsThemForItsFiles() {
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.createLocalEnvironment(new Configuration());
    EtlEnvironment.completeOnCluster(environment, EtlOptions.parse(Map.of()));
    assertThat(environment.getCheckpointConfig().getCheckpointInterval()).isEqualTo(5_000);
  }

  @Test
  void aJobOfASavepointMayBeResumed() {
    assertThat(EtlEnvironment.mayBeResumed(cluster())).isFalse();
    Configuration restored = new Configuration();
    restored.set(StateRecoveryOptions.SAVEPOINT_PATH, "/savepoint");
    assertThat(
            EtlEnvironment.mayBeResumed(
                StreamExecutionEnvironment.createLocalEnvironment(restored)))
        .isTrue();
  }

  @Test
  void theWebPortIsFree() throws IOException {
    try (ServerSocket taken = new ServerSocket(0)) {
      assertThatThrownBy(() -> EtlEnvironment.freeWebPort(Optional.of(taken.getLocalPort())))
          .isInstanceOf(UsageException.class)
          .hasMessageStartingWith("--web-port " + taken.getLocalPort() + " cannot be used: ");
    }
    int port = EtlEnvironment.freeWebPort(Optional.empty());
    try (ServerSocket socket = new ServerSocket(port)) {
      assertThat(EtlEnvironment.freeWebPort(Optional.empty())).isNotEqualTo(port);
      assertThat(socket.isBound()).isTrue();
    }
  }
}
