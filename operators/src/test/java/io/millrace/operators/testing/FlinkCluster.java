// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A Flink cluster in this process, which the tests of a module share. It has {@value #SLOTS} slots
 * and little memory. Register it in a static field:
 *
 * <pre>{@code @RegisterExtension static final FlinkCluster flink = new FlinkCluster();}</pre>
 *
 * <p>Its jobs do not restart when they fail. They are cancelled when their test ends, so that the
 * slots are free for the next test after a failed test. Operators run in this process, so tests may
 * share static fields with them.
 */
public final class FlinkCluster implements BeforeAllCallback, AfterEachCallback {
  /** How many subtasks run at once. */
  public static final int SLOTS = 4;

  private static final long TIMEOUT_SECONDS = 300;

  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(FlinkCluster.class);

  private final Map<String, String> options;
  private MiniCluster cluster;

  /** The cluster with default options, which all tests share. */
  public FlinkCluster() {
    this(Map.of());
  }

  /** A cluster with {@code options}, which all tests with equal options share. */
  public FlinkCluster(Map<String, String> options) {
    this.options = Map.copyOf(options);
  }

  /** A cluster whose jobs can be rescaled. One batch takes several of its small network buffers. */
  public static FlinkCluster withAdaptiveScheduler() {
    return new FlinkCluster(
        Map.of(
            "taskmanager.memory.segment-size", "4 kb",
            "jobmanager.scheduler", "adaptive",
            "jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling", "0 s",
            "jobmanager.adaptive-scheduler.executing.resource-stabilization-timeout", "0 s",
            "jobmanager.adaptive-scheduler.submission.resource-stabilization-timeout", "0 s"));
  }

  /** Closes the cluster after the last test of the process. */
  private record Shared(MiniCluster cluster) implements AutoCloseable {
    @Override
    public void close() {
      cluster.closeAsync().join();
    }
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    cluster =
        context
            .getRoot()
            .getStore(NAMESPACE)
            .getOrComputeIfAbsent(options, FlinkCluster::start, Shared.class)
            .cluster;
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    for (JobStatusMessage job : cluster.listJobs().get(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
      if (!job.getJobState().isGloballyTerminalState()) {
        new FlinkJob(cluster, job.getJobId()).cancel();
      }
    }
  }

  private static Shared start(Map<String, String> options) {
    Configuration configuration = Configuration.fromMap(options);
    configuration.set(RestOptions.BIND_PORT, "0");
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(256));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(16));
    configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(16));
    configuration.setString(
        "metrics.reporter.recording.factory.class",
        RecordingMetricReporter.Factory.class.getName());
    MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(SLOTS)
                .build());
    try {
      cluster.start();
    } catch (Exception e) {
      throw new IllegalStateException("the cluster did not start", e);
    }
    return new Shared(cluster);
  }

  /** An environment for a job of this cluster, which does not restart. */
  public StreamExecutionEnvironment environment(int parallelism) {
    return environment(parallelism, new Configuration());
  }

  /** As {@link #environment(int)}, with further options of the job. */
  public StreamExecutionEnvironment environment(int parallelism, Configuration options) {
    Configuration configuration = new Configuration(options);
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "disable");
    StreamExecutionEnvironment environment = new StreamExecutionEnvironment(configuration);
    environment.setParallelism(parallelism);
    return environment;
  }

  /** Starts the environment's job. */
  public FlinkJob submit(StreamExecutionEnvironment environment) throws Exception {
    JobGraph graph = environment.getStreamGraph().getJobGraph();
    cluster.submitJob(graph).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    return new FlinkJob(cluster, graph.getJobID());
  }

  /**
   * Runs the environment's job to its end.
   *
   * @throws Exception the job's failure, if it fails
   */
  public void run(StreamExecutionEnvironment environment) throws Exception {
    submit(environment).await();
  }
}
