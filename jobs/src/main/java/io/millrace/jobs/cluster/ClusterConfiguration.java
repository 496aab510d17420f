// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.cluster;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ConfigurationUtils;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessUtils;

/** Flink's options of a cluster that listens on the loopback interface alone. */
final class ClusterConfiguration {
  private static final String HOST = "localhost";
  private static final MemorySize JOB_MANAGER_MEMORY = MemorySize.ofMebiBytes(1200);
  private static final Duration RESTART_DELAY = Duration.ofSeconds(1);
  // Device tables that were spilled to the host, staging memory and Arrow are outside of the heap.
  private static final MemorySize OFF_HEAP = MemorySize.ofMebiBytes(256);
  // For Flink's own operators and state; those of Millrace do not use it.
  private static final float MANAGED_FRACTION = 0.1f;

  private ClusterConfiguration() {}

  /**
   * Writes {@code config.yaml} of a cluster.
   *
   * @throws ClusterException if a port that it needs is taken, or the parts of the memory of a
   *     TaskManager do not fit into it
   */
  static Configuration write(ClusterFolder folder, ClusterSettings settings)
      throws IOException, ClusterException {
    Configuration configuration = new Configuration();
    addresses(configuration, settings.port());
    configuration.set(JobManagerOptions.TOTAL_PROCESS_MEMORY, JOB_MANAGER_MEMORY);
    configuration.set(TaskManagerOptions.TOTAL_PROCESS_MEMORY, settings.memory());
    configuration.set(TaskManagerOptions.TASK_OFF_HEAP_MEMORY, OFF_HEAP);
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_FRACTION, MANAGED_FRACTION);
    configuration.set(TaskManagerOptions.NUM_TASK_SLOTS, settings.slots());
    configuration.set(
        TaskManagerOptions.TASK_MANAGER_LOAD_BALANCE_MODE,
        TaskManagerOptions.TaskManagerLoadBalanceMode.SLOTS);
    folders(configuration, folder);
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
    configuration.set(
        RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_INITIAL_BACKOFF, RESTART_DELAY);
    if (settings.metricsPort().isPresent()) {
      configuration.setString(
          "metrics.reporter.prometheus.factory.class",
          "org.apache.flink.metrics.prometheus.PrometheusReporterFactory");
    }
    checkPorts(settings);
    settings.flinkOptions().forEach(configuration::setString);
    checkMemory(configuration);
    // One line for each option: nested, an option could not be the beginning of another.
    Files.write(
        folder.configuration().resolve("config.yaml"),
        ConfigurationUtils.convertConfigToWritableLines(configuration, true));
    return configuration;
  }

  private static void checkPorts(ClusterSettings settings) throws IOException, ClusterException {
    for (ConfigOption<?> option : List.of(RestOptions.PORT, RestOptions.BIND_PORT)) {
      if (settings.flinkOptions().containsKey(option.key())) {
        throw new ClusterException("'" + option.key() + "' is what --port is for");
      }
    }
    if (settings.metricsPort().isPresent()) {
      int first = settings.metricsPort().get();
      if (first < 1) {
        throw new ClusterException("expected a --metrics-port from 1, got " + first);
      }
      for (int port = first; port <= first + settings.taskManagers(); port++) {
        freePort(port);
      }
    }
  }

  private static void checkMemory(Configuration configuration) throws ClusterException {
    try {
      TaskExecutorProcessUtils.processSpecFromConfig(configuration);
    } catch (IllegalConfigurationException e) {
      String reason = e.getCause() == null ? e.getMessage() : e.getCause().getMessage();
      throw new ClusterException("the memory of a TaskManager is too small: " + reason, e);
    }
  }

  private static void addresses(Configuration configuration, int port)
      throws IOException, ClusterException {
    configuration.set(JobManagerOptions.ADDRESS, HOST);
    configuration.set(JobManagerOptions.BIND_HOST, HOST);
    configuration.set(JobManagerOptions.PORT, freePort(0));
    configuration.set(RestOptions.ADDRESS, HOST);
    configuration.set(RestOptions.BIND_ADDRESS, HOST);
    configuration.set(RestOptions.PORT, freePort(port));
    configuration.set(RestOptions.BIND_PORT, String.valueOf(configuration.get(RestOptions.PORT)));
    configuration.set(TaskManagerOptions.HOST, HOST);
    configuration.set(TaskManagerOptions.BIND_HOST, HOST);
  }

  private static void folders(Configuration configuration, ClusterFolder folder) {
    configuration.set(CoreOptions.TMP_DIRS, folder.temporary().toString());
    configuration.set(WebOptions.TMP_DIR, folder.temporary().toString());
    configuration.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    configuration.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.checkpoints().toUri().toString());
    configuration.set(
        CheckpointingOptions.SAVEPOINT_DIRECTORY, folder.savepoints().toUri().toString());
  }

  /**
   * @param port 0 for any
   */
  private static int freePort(int port) throws IOException, ClusterException {
    try (ServerSocket socket = new ServerSocket(port)) {
      return socket.getLocalPort();
    } catch (IOException | IllegalArgumentException e) {
      throw new ClusterException("port " + port + " cannot be used: " + e.getMessage(), e);
    }
  }
}
