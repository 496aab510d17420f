// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Optional;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.jobmanager.HighAvailabilityMode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The cluster that runs a job: an embedded cluster, or the cluster that it is submitted to. */
final class EtlEnvironment {
  private static final int WEB_PORT = 8081;
  private static final String SAVEPOINT_FILE = "_metadata";
  private static final String IN_JOB_MANAGER = "embedded";

  private EtlEnvironment() {}

  /** The environment of {@code flink run} or a JobManager, with the settings of the user. */
  static StreamExecutionEnvironment ofCluster(Configuration settings) {
    StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment(given(settings));
    completeOnCluster(environment, settings);
    return environment;
  }

  /**
   * Applies the settings of the user. Else the cluster's parallelism and checkpoint interval stay;
   * without any interval files would be committed only at the job's end, so that there is one then.
   */
  static void completeOnCluster(StreamExecutionEnvironment environment, Configuration settings) {
    settings.getOptional(EtlOptions.PARALLELISM).ifPresent(environment::setParallelism);
    boolean isGiven = settings.contains(EtlOptions.CHECKPOINT_INTERVAL);
    if (isGiven || !environment.getCheckpointConfig().isCheckpointingEnabled()) {
      environment.enableCheckpointing(settings.get(EtlOptions.CHECKPOINT_INTERVAL).toMillis());
    }
  }

  /**
   * Whether the submitted job may resume earlier work: from a savepoint or checkpoint, or in a
   * JobManager that runs the main class again after it took over from another one.
   */
  static boolean mayBeResumed(StreamExecutionEnvironment environment) {
    ReadableConfig configuration = environment.getConfiguration();
    return configuration.get(StateRecoveryOptions.SAVEPOINT_PATH) != null
        || (HighAvailabilityMode.isHighAvailabilityModeActivated(
                Configuration.fromMap(configuration.toMap()))
            && IN_JOB_MANAGER.equals(configuration.get(DeploymentOptions.TARGET)));
  }

  /**
   * An embedded cluster, which ends with its job.
   *
   * @param webPort of the web UI; empty for none
   * @param resumePath of the savepoint or checkpoint to resume from
   */
  static StreamExecutionEnvironment embedded(
      Configuration settings, Optional<Integer> webPort, Optional<String> resumePath) {
    Configuration configuration = given(settings);
    configuration.set(
        CheckpointingOptions.CHECKPOINTING_INTERVAL, settings.get(EtlOptions.CHECKPOINT_INTERVAL));
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "disable");
    // Accumulators, and so the progress shown, travel with heartbeats.
    configuration.set(HeartbeatManagerOptions.HEARTBEAT_INTERVAL, Duration.ofSeconds(1));
    resumePath.ifPresent(path -> configuration.set(StateRecoveryOptions.SAVEPOINT_PATH, path));
    webPort.ifPresent(
        port -> {
          configuration.set(RestOptions.PORT, port);
          configuration.set(RestOptions.BIND_PORT, port.toString());
        });
    StreamExecutionEnvironment environment =
        webPort.isPresent()
            ? StreamExecutionEnvironment.createLocalEnvironmentWithWebUI(configuration)
            : StreamExecutionEnvironment.createLocalEnvironment(configuration);
    environment.setParallelism(settings.get(EtlOptions.PARALLELISM));
    return environment;
  }

  private static Configuration given(Configuration settings) {
    Configuration configuration = new Configuration();
    copy(settings, EtlOptions.DEVICE, configuration, EtlOptions.DEVICE);
    copy(
        settings,
        EtlOptions.CHECKPOINT_INTERVAL,
        configuration,
        CheckpointingOptions.CHECKPOINTING_INTERVAL);
    settings
        .getOptional(EtlOptions.CHECKPOINT_PATH)
        .ifPresent(
            path -> {
              configuration.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
              configuration.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, uri(path));
              configuration.set(
                  CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
                  ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
            });
    settings
        .getOptional(EtlOptions.SAVEPOINT_PATH)
        .ifPresent(path -> configuration.set(CheckpointingOptions.SAVEPOINT_DIRECTORY, uri(path)));
    return configuration;
  }

  private static <T> void copy(
      Configuration from, ConfigOption<T> source, Configuration to, ConfigOption<T> target) {
    from.getOptional(source).ifPresent(value -> to.set(target, value));
  }

  /**
   * A path as Flink's options want it, which take no relative ones.
   *
   * @throws UsageException if there is no file system for it
   */
  static String uri(String path) {
    Path unqualified = new Path(path);
    try {
      return unqualified.makeQualified(unqualified.getFileSystem()).toString();
    } catch (IOException e) {
      throw new UsageException("cannot use " + path + ": " + FailureMessage.of(e));
    }
  }

  /**
   * The path of the savepoint or checkpoint that a job resumes from.
   *
   * @throws UsageException if there is none
   */
  static String savepoint(String path) {
    Path qualified = new Path(uri(path));
    Path metadata = new Path(qualified, SAVEPOINT_FILE);
    try {
      if (!qualified.getFileSystem().exists(metadata)) {
        throw new UsageException("--resume: there is no savepoint or checkpoint in " + path);
      }
    } catch (IOException e) {
      throw new UsageException("--resume: cannot read " + path + ": " + FailureMessage.of(e));
    }
    return qualified.toString();
  }

  /**
   * The port that is asked for, or 8081, or a free one if 8081 is taken.
   *
   * @throws UsageException if the port that is asked for is taken
   */
  static int freeWebPort(Optional<Integer> asked) {
    int port = asked.orElse(WEB_PORT);
    try (ServerSocket socket = new ServerSocket(port)) {
      return socket.getLocalPort();
    } catch (IOException | IllegalArgumentException e) {
      if (asked.isPresent()) {
        throw new UsageException("--web-port " + port + " cannot be used: " + e.getMessage());
      }
    }
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UsageException("there is no free port for the web UI: " + e.getMessage());
    }
  }
}
