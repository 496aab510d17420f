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

/**
 * A {@link SpillQuota} with the number of chains that use it, and what is said of it in the log.
 */
final class JobMemory {
  private static final Logger LOG = LoggerFactory.getLogger(JobMemory.class);

  private final SpillQuota share;
  private final AtomicBoolean warned = new AtomicBoolean();
  private int users;

  JobMemory(SpillQuota share) {
    this.share = share;
  }

  void addUser() {
    users++;
  }

  /** Whether no user is left. */
  boolean removeUser() {
    return --users == 0;
  }

  SpillableResourceAdaptor resource(MemoryBudget hostBudget) {
    return share.resource(hostBudget);
  }

  long diskBytes() {
    return share.diskBytes();
  }

  /** Says once that nothing can be kept in host memory. */
  void warnOfNoManagedMemory() {
    if (warned.compareAndSet(false, true)) {
      LOG.warn(
          "{} keeps nothing that it spills in host memory, because its operators have no managed"
              + " memory; set {} or {} of the TaskManager",
          share.name(),
          TaskManagerOptions.MANAGED_MEMORY_SIZE.key(),
          TaskManagerOptions.MANAGED_MEMORY_FRACTION.key());
    }
  }

  /** Deletes the job's spill file and logs what spilling did. */
  void close() {
    if (share.deviceBytes() + share.hostBytes() + share.diskBytes() > 0) {
      LOG.warn(
          "{} ended with memory held: {} bytes of the device, {} of the host, {} of disk",
          share.name(),
          share.deviceBytes(),
          share.hostBytes(),
          share.diskBytes());
    }
    if (hasCounted(share.statistics())) {
      LOG.info("{}: {}", share.name(), share.statistics());
    }
    share.close();
  }

  private static boolean hasCounted(SpillStatistics statistics) {
    return !statistics.exposures().isEmpty()
        || Stream.of(SpillTier.values())
            .flatMap(from -> Stream.of(SpillTier.values()).map(to -> statistics.count(from, to)))
            .anyMatch(count -> count > 0);
  }
}
