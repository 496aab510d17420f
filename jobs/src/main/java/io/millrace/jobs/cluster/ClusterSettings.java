// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.cluster;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.flink.configuration.MemorySize;

/**
 * What a cluster is started with.
 *
 * @param port of the REST interface and the web UI
 * @param taskManagers at least 1
 * @param slots of each TaskManager, at least 1
 * @param memory of each TaskManager process
 * @param gpus the names of the GPUs that are dealt to TaskManagers; empty if there are none
 * @param metricsPort of the JobManager's metrics for Prometheus; the TaskManagers take the next
 *     ones; empty for no metrics
 * @param flinkOptions win over all
 */
record ClusterSettings(
    int port,
    int taskManagers,
    int slots,
    MemorySize memory,
    List<String> gpus,
    Optional<Integer> metricsPort,
    Map<String, String> flinkOptions) {
  static final int DEFAULT_PORT = 8081;
  static final int DEFAULT_SLOTS = 2;
  static final String DEFAULT_MEMORY = "2g";

  /** A TaskManager for each GPU of this machine, at least one. */
  static ClusterSettings defaults() throws IOException {
    List<String> gpus = Gpus.visible();
    return new ClusterSettings(
        DEFAULT_PORT,
        Math.max(1, gpus.size()),
        DEFAULT_SLOTS,
        MemorySize.parse(DEFAULT_MEMORY),
        gpus,
        Optional.empty(),
        Map.of());
  }

  /**
   * The GPUs of a TaskManager: several if there are more GPUs than TaskManagers; one, which it may
   * share with others, if there are fewer; empty if there are none.
   *
   * @param number from 1
   */
  List<String> gpus(int number) {
    int dealt = gpus.isEmpty() ? 0 : Math.max(gpus.size(), number);
    return IntStream.iterate(number - 1, i -> i < dealt, i -> i + taskManagers)
        .mapToObj(i -> gpus.get(i % gpus.size()))
        .toList();
  }
}
