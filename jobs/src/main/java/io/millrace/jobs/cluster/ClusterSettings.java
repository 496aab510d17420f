// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.cluster;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.MemorySize;

/**
 * What a cluster is started with.
 *
 * @param port of the REST interface and the web UI
 * @param taskManagers at least 1
 * @param slots of each TaskManager, at least 1
 * @param memory of each TaskManager process
 * @param gpus the numbers of the GPUs that TaskManagers take in turns; empty if there are none
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

  /**
   * The GPU of a TaskManager.
   *
   * @param number from 1
   */
  Optional<String> gpu(int number) {
    return gpus.isEmpty() ? Optional.empty() : Optional.of(gpus.get((number - 1) % gpus.size()));
  }
}
