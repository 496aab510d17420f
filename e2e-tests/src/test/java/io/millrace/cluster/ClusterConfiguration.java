// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The Flink options of a {@link ProcessCluster}: small memory, free ports, failures seen soon. */
final class ClusterConfiguration {
  static final int SLOTS_PER_TASK_MANAGER = 2;

  private ClusterConfiguration() {}

  /**
   * Writes {@code config.yaml} for processes that keep all their files under {@code folder}.
   *
   * @param more options besides, or in the place of, those of this class
   */
  static void write(Path folder, Path file, Map<String, String> more) throws IOException {
    Map<String, Object> options = new LinkedHashMap<>();
    addresses(options);
    memory(options);
    folders(options, folder);
    recovery(options);
    options.putAll(more);
    List<String> lines =
        options.entrySet().stream().map(e -> e.getKey() + ": \"" + e.getValue() + "\"").toList();
    Files.createDirectories(file.getParent());
    Files.write(file, lines);
  }

  private static void addresses(Map<String, Object> options) {
    options.put("jobmanager.rpc.address", "localhost");
    options.put("jobmanager.bind-host", "localhost");
    // Any free port; the TaskManagers are told which one it was.
    options.put("jobmanager.rpc.port", 0);
    options.put("rest.address", "localhost");
    options.put("rest.bind-address", "localhost");
    options.put("rest.bind-port", 0);
    options.put("taskmanager.host", "localhost");
    options.put("taskmanager.bind-host", "localhost");
    options.put("taskmanager.numberOfTaskSlots", SLOTS_PER_TASK_MANAGER);
    options.put("taskmanager.load-balance.mode", "SLOTS");
  }

  // A TaskManager that no start script configures insists on every one of these.
  private static void memory(Map<String, Object> options) {
    options.put("taskmanager.cpu.cores", 1.0);
    options.put("taskmanager.memory.framework.heap.size", "64m");
    options.put("taskmanager.memory.task.heap.size", "160m");
    options.put("taskmanager.memory.framework.off-heap.size", "64m");
    options.put("taskmanager.memory.task.off-heap.size", "64m");
    options.put("taskmanager.memory.network.min", "32m");
    options.put("taskmanager.memory.network.max", "32m");
    options.put("taskmanager.memory.managed.size", "32m");
    options.put("taskmanager.memory.jvm-metaspace.size", "192m");
    options.put("taskmanager.memory.jvm-overhead.min", "64m");
    options.put("taskmanager.memory.jvm-overhead.max", "64m");
  }

  private static void folders(Map<String, Object> options, Path folder) {
    options.put("io.tmp.dirs", folder.resolve("tmp"));
    options.put("process.working-dir", folder.resolve("tmp"));
    options.put("web.upload.dir", folder.resolve("upload"));
    options.put("execution.checkpointing.storage", "filesystem");
    options.put("execution.checkpointing.dir", folder.resolve("checkpoints").toUri());
  }

  private static void recovery(Map<String, Object> options) {
    // A killed TaskManager refuses connections: two refused heartbeats are enough to call it dead.
    // The timeout itself stays long, because a busy machine may well pause a live one for seconds.
    // Accumulators travel with heartbeats.
    options.put("heartbeat.interval", "200 ms");
    options.put("heartbeat.rpc-failure-threshold", 2);
    options.put("heartbeat.timeout", "60 s");
    options.put("restart-strategy.type", "fixed-delay");
    // Until the JobManager calls a TaskManager dead, it may deploy tasks to it again and again.
    options.put("restart-strategy.fixed-delay.attempts", 1_000);
    options.put("restart-strategy.fixed-delay.delay", "100 ms");
    options.put(
        "execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION");
    // How old answers may be that tests wait for; by default they are up to 3 seconds old.
    options.put("web.refresh-interval", "100 ms");
    options.put("metrics.fetcher.update-interval", "100 ms");
    // While metrics are asked of a TaskManager that was killed, no others are read.
    options.put("web.timeout", "45 s");
  }
}
