// SPDX-License-Identifier: Apache-2.0
package io.millrace.comparison;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A job over bids as lines of text, which stock Flink and Millrace do with the same result. */
interface BidJob {
  int PARALLELISM = 2;
  List<String> CHANNELS = List.of("Google", "Facebook", "Baidu", "Apple");

  /** Adds the job. */
  void build(StreamExecutionEnvironment environment) throws Exception;

  /** A cluster for jobs, which the caller starts and closes. */
  static MiniCluster cluster() {
    Configuration configuration = new Configuration();
    configuration.set(RestOptions.BIND_PORT, "0");
    return new MiniCluster(
        new MiniClusterConfiguration.Builder()
            .setConfiguration(configuration)
            .setNumSlotsPerTaskManager(PARALLELISM)
            .build());
  }

  /**
   * Runs the job to its end and returns the processor nanoseconds of this process for a row. What
   * was left for the garbage collector is collected before.
   */
  default double run(MiniCluster cluster, Duration checkpointInterval, long rows) throws Exception {
    OperatingSystemMXBean process =
        ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.OBJECT_REUSE, true);
    StreamExecutionEnvironment environment = new StreamExecutionEnvironment(configuration);
    environment.setParallelism(PARALLELISM);
    environment.enableCheckpointing(checkpointInterval.toMillis());
    build(environment);
    System.gc();
    long before = process.getProcessCpuTime();
    cluster.executeJobBlocking(environment.getStreamGraph().getJobGraph());
    return (double) (process.getProcessCpuTime() - before) / rows;
  }

  /** A line of JSON of about 150 bytes, without its line feed. */
  static String jsonBid(Random random) {
    return bid(
        "{\"auction\":%d,\"bidder\":%d,\"price\":%d,\"channel\":\"%s\","
            + "\"dateTime\":\"2026-11-21 10:%02d:%02d.%03d\",\"extra\":\"%s\"}",
        random);
  }

  /** A line of CSV of about 90 bytes, without its line feed. */
  static String csvBid(Random random) {
    return bid("%d,%d,%d,%s,2026-11-21 10:%02d:%02d.%03d,%s", random);
  }

  private static String bid(String format, Random random) {
    return String.format(
        Locale.ROOT,
        format,
        1000 + random.nextInt(1000),
        random.nextInt(100_000),
        random.nextInt(100_000_000),
        CHANNELS.get(random.nextInt(CHANNELS.size())),
        random.nextInt(60),
        random.nextInt(60),
        random.nextInt(1000),
        "x".repeat(20 + random.nextInt(40)));
  }
}
