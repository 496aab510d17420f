// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.memory.SpillTier;
import io.millrace.memory.spill.MemoryBudget;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.memory.spill.SpillStatistics;
import io.millrace.memory.spill.SpillableResourceAdaptor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.flink.configuration.TaskManagerOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A {@link SpillQuota} with the number of chains that use it, and its log messages. */
final class JobMemory {
  private static final Logger LOG = LoggerFactory.getLogger(JobMemory.class);

  private final SpillQuota quota;
  private final AtomicBoolean warned = new AtomicBoolean();
  private final SpillBurst spillBurst;
  private int users;

  JobMemory(SpillQuota quota) {
    this.quota = quota;
    this.spillBurst = new SpillBurst(quota.name(), quota.statistics());
  }

  /** Logs a burst of spilling that has ended. */
  void logSpilling(long nowNanos) {
    spillBurst.observe(nowNanos).ifPresent(EventLine::log);
  }

  void addUser() {
    users++;
  }

  /** Removes one user; returns whether none is left. */
  boolean removeUser() {
    return --users == 0;
  }

  SpillableResourceAdaptor resource(MemoryBudget hostBudget) {
    return quota.resource(hostBudget);
  }

  long diskBytes() {
    return quota.diskBytes();
  }

  /** Logs once that no buffer can be spilled to host memory. */
  void warnOfNoManagedMemory() {
    if (warned.compareAndSet(false, true)) {
      LOG.warn(
          "{} cannot spill to host memory, because its operators have no managed memory; set {} or"
              + " {} of the TaskManager",
          quota.name(),
          TaskManagerOptions.MANAGED_MEMORY_SIZE.key(),
          TaskManagerOptions.MANAGED_MEMORY_FRACTION.key());
    }
  }

  /** Deletes the job's spill file and logs what spilling did. */
  void close() {
    if (quota.deviceBytes() + quota.hostBytes() + quota.diskBytes() > 0) {
      LOG.warn(
          "{} ended with memory held: {} bytes of the device, {} of the host, {} of disk",
          quota.name(),
          quota.deviceBytes(),
          quota.hostBytes(),
          quota.diskBytes());
    }
    if (hasCounted(quota.statistics())) {
      LOG.info("{}: {}", quota.name(), quota.statistics());
    }
    quota.close();
  }

  private static boolean hasCounted(SpillStatistics statistics) {
    return !statistics.exposures().isEmpty()
        || Stream.of(SpillTier.values())
            .flatMap(from -> Stream.of(SpillTier.values()).map(to -> statistics.count(from, to)))
            .anyMatch(count -> count > 0);
  }
}
