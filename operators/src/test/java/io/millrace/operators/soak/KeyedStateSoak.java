// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.soak;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static io.millrace.operators.deduplicate.Deduplication.keepFirst;

import com.sun.management.UnixOperatingSystemMXBean;
import io.millrace.device.Device;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.testing.RecordingMetricReporter;
import io.millrace.operators.window.Tumble;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/**
 * Runs a job with a group aggregate and a de-duplication with a time-to-live, and a TUMBLE window
 * of 10 s, over random keys which are replaced by others in each time-to-live, with an incremental
 * checkpoint every 2 s, for a given time, and samples what the process holds. Prints CSV, which
 * {@link SoakPlot} draws: memory of the device, pinned memory for transfers, the heap right after a
 * collection, open files, rows of state, rows that expired, and completed and failed checkpoints.
 * Everything but what is counted should be level after a few times-to-live.
 */
public final class KeyedStateSoak {
  private static final int PARALLELISM = 2;
  private static final int BATCH_ROWS = 8 << 10;
  private static final long MILLIS_PER_BATCH = 50;
  private static final int MAX_SAMPLES = 600;
  private static final UnixOperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(UnixOperatingSystemMXBean.class);

  private final MiniCluster cluster;
  private final PrintStream output;

  private KeyedStateSoak(MiniCluster cluster, PrintStream output) {
    this.cluster = cluster;
    this.output = output;
  }

  /**
   * Runs the job. Arguments: seconds, the number of keys, the time-to-live in seconds, the CSV
   * file.
   */
  public static void main(String[] arguments) throws Exception {
    long seconds = Long.parseLong(arguments[0]);
    long keys = Long.parseLong(arguments[1]);
    Duration timeToLive = Duration.ofSeconds(Long.parseLong(arguments[2]));
    Configuration configuration = new Configuration();
    configuration.set(RestOptions.BIND_PORT, "0");
    configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(256));
    configuration.setString(
        "metrics.reporter.recording.factory.class",
        RecordingMetricReporter.Factory.class.getName());
    MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumSlotsPerTaskManager(PARALLELISM)
                .build());
    try (PrintStream output =
        new PrintStream(Path.of(arguments[3]).toFile(), StandardCharsets.UTF_8)) {
      cluster.start();
      new KeyedStateSoak(cluster, output).run(seconds, keys, timeToLive);
    } finally {
      cluster.closeAsync().join();
    }
  }

  private void run(long seconds, long keys, Duration timeToLive) throws Exception {
    JobGraph graph = job(keys, timeToLive).getStreamGraph().getJobGraph();
    JobID job = graph.getJobID();
    cluster.submitJob(graph).get();
    output.println(
        "second,device bytes,pinned bytes,heap bytes,open files,state rows,state bytes,"
            + "checkpoints,failed checkpoints,expired rows");
    long start = System.nanoTime();
    long interval = Math.max(1, seconds / MAX_SAMPLES);
    for (long second = 0; second <= seconds; second += interval) {
      TimeUnit.NANOSECONDS.sleep(start + TimeUnit.SECONDS.toNanos(second) - System.nanoTime());
      JobStatus status = cluster.getJobStatus(job).get();
      if (status.isTerminalState()) {
        cluster.requestJobResult(job).get().toJobExecutionResult(getClass().getClassLoader());
      }
      sample(second, job);
    }
    cluster.cancelJob(job).get();
    cluster.requestJobResult(job).get();
    System.out.printf(
        Locale.ROOT,
        "After the job: %d batches, %d bytes of the device%n",
        ColumnBatch.liveBatches(),
        DeviceContext.heldBytes(Device.current()));
  }

  private void sample(long second, JobID job) throws Exception {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    var checkpoints = cluster.getExecutionGraph(job).get().getCheckpointStatsSnapshot().getCounts();
    output.printf(
        Locale.ROOT,
        "%d,%d,%d,%d,%d,%d,%d,%d,%d,%d%n",
        second,
        DeviceContext.heldBytes(Device.current()),
        Device.current().stagingPool().pinnedBytes(),
        runtime.totalMemory() - runtime.freeMemory(),
        PROCESS.getOpenFileDescriptorCount(),
        total("state.rows"),
        total("state.bytes"),
        checkpoints.getNumberOfCompletedCheckpoints(),
        checkpoints.getNumberOfFailedCheckpoints(),
        total("state.expiredRows"));
    output.flush();
  }

  private static long total(String gauge) {
    return RecordingMetricReporter.gauges(gauge).stream()
        .mapToLong(metric -> (Long) metric.getValue())
        .sum();
  }

  private static StreamExecutionEnvironment job(long keys, Duration timeToLive) throws IOException {
    Configuration options = new Configuration();
    options.set(RestartStrategyOptions.RESTART_STRATEGY, "disable");
    options.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofSeconds(2));
    options.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    options.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
        Files.createTempDirectory("soak").toUri().toString());
    StreamExecutionEnvironment environment = new StreamExecutionEnvironment(options);
    environment.setParallelism(PARALLELISM);
    DataStream<ColumnBatch> batches =
        environment
            .fromSequence(0, Long.MAX_VALUE)
            .setParallelism(1)
            .transform(
                "batches",
                new ColumnBatchTypeInformation(SendRandomBatches.SCHEMA),
                new OperatorFactory<>(
                    SendRandomBatches.class,
                    parameters ->
                        new SendRandomBatches(
                            parameters, keys, timeToLive.toMillis(), BATCH_ROWS, MILLIS_PER_BATCH)))
            .setParallelism(1);
    ColumnStream rows = ColumnStream.fromBatches(batches);
    rows.keyBy("id")
        .stateTtl(timeToLive)
        .aggregate(count().as("c"), sum("v").as("s"), max("v").as("m"))
        .toRowData()
        .sinkTo(new DiscardingSink<>());
    rows.keyBy("id")
        .stateTtl(timeToLive)
        .deduplicate(keepFirst())
        .toRowData()
        .sinkTo(new DiscardingSink<>());
    rows.keyBy("id")
        .window(Tumble.over("ts", Duration.ofSeconds(10)))
        .aggregate(count().as("c"), sum("v").as("s"))
        .toRowData()
        .sinkTo(new DiscardingSink<>());
    return environment;
  }
}
