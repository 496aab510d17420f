// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.FailureCallbackResourceAdaptor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Moves buffers that are not being accessed from a device to pinned host memory, from there to
 * disk, and back when they are accessed. All jobs of a process that use the same device share its
 * manager; each job has a {@link SpillQuota}. Thread-safe.
 *
 * <p>Least recently used buffers are spilled first and, of buffers used at the same time, the
 * largest, because it takes the fewest transfers. Buffers are spilled when an allocation would
 * exceed a device limit and, on demand, when the device refuses an allocation. Transfers run on
 * streams of their own, beside the work of the jobs; only the thread that needs the memory waits
 * for them.
 *
 * <p>A thread that moves a buffer holds the lock of its owner. A thread that holds the lock of one
 * owner only tries the locks of others, so that no two threads wait for each other.
 */
@PublicEvolving
public final class SpillManager implements AutoCloseable {
  // Spilling a little more than needed spares the next allocations a search.
  private static final int SLACK_FRACTION = 16;

  private final MemoryResource upstream;
  private final MemoryResource hostMemory;
  private final SpillTransfers transfers;
  private final long deviceLimitBytes;
  private final SpillStatistics statistics;
  private final SpillCandidates onDevice = new SpillCandidates();
  private final ReentrantLock spilling = new ReentrantLock();
  private final AtomicLong deviceBytes = new AtomicLong();

  /**
   * @param deviceMemory the resource that buffers are allocated from
   * @param hostMemory pinned memory for spilled buffers, ordered by streams of the same device
   * @param deviceLimitBytes limit of all quotas together; soft, as {@link SpillLimits#deviceBytes}
   * @param onDemand whether to spill when {@code deviceMemory} refuses an allocation
   * @param statistics counts the transfers of all quotas
   * @param nanoClock measures transfers
   */
  public SpillManager(
      MemoryResource deviceMemory,
      MemoryResource hostMemory,
      long deviceLimitBytes,
      boolean onDemand,
      SpillStatistics statistics,
      LongSupplier nanoClock) {
    this.upstream =
        onDemand
            ? new FailureCallbackResourceAdaptor(deviceMemory, bytes -> spill(bytes) > 0)
            : deviceMemory;
    this.hostMemory = hostMemory;
    this.deviceLimitBytes = deviceLimitBytes;
    this.statistics = statistics;
    this.transfers = new SpillTransfers(deviceMemory.device(), nanoClock);
  }

  public Device device() {
    return upstream.device();
  }

  /**
   * Opens a quota for one job.
   *
   * @param name the job's name in error messages
   * @throws SpillException if none of the limits' directories can be written to
   */
  public SpillQuota openQuota(String name, SpillLimits limits) {
    SpillStatistics counts = new SpillStatistics(limits.statisticsLevel(), statistics);
    return new SpillQuota(
        this, name, limits, new SpillStore(limits, hostMemory, transfers, counts));
  }

  /** Bytes and times of the transfers of all quotas since the process began. */
  public SpillStatistics statistics() {
    return statistics;
  }

  /** Bytes of device memory that all quotas hold now. */
  public long deviceBytes() {
    return deviceBytes.get();
  }

  /** See {@link SpillLimits#deviceBytes}. */
  public long deviceLimitBytes() {
    return deviceLimitBytes;
  }

  /**
   * Spills buffers of any quota until {@code bytes} more bytes of device memory are free or nothing
   * more can be spilled.
   *
   * @return the bytes spilled
   * @throws SpillException if a disk fails or is full, and nothing else could be spilled
   */
  public long spill(long bytes) {
    return spill(() -> bytes, owner -> true);
  }

  MemoryResource upstream() {
    return upstream;
  }

  SpillCandidates onDevice() {
    return onDevice;
  }

  void addDeviceBytes(long bytes) {
    deviceBytes.addAndGet(bytes);
  }

  /** Spills until {@code bytes} bytes more fit the limits, or nothing more can be spilled. */
  void makeRoom(long bytes, SpillQuota quota) {
    long quotaLimit = quota.limits().deviceBytes();
    checkPossible(bytes, Math.min(quotaLimit, deviceLimitBytes), quota);
    if (quota.deviceBytes() + bytes > quotaLimit) {
      spill(
          () -> excess(quota.deviceBytes() + bytes, quotaLimit),
          owner -> owner.store() == quota.store());
    }
    if (deviceBytes() + bytes > deviceLimitBytes) {
      spill(() -> excess(deviceBytes() + bytes, deviceLimitBytes), owner -> true);
    }
  }

  private static void checkPossible(long bytes, long limit, SpillQuota quota) {
    if (bytes > limit) {
      throw new GpuOutOfMemoryException(
          bytes
              + " bytes in one buffer are more than the device limit of "
              + limit
              + " bytes that "
              + quota.name()
              + " has; set millrace.spill.device-limit to more, or make batches smaller");
    }
  }

  private static long excess(long bytes, long limit) {
    return bytes > limit ? bytes - limit + limit / SLACK_FRACTION : 0;
  }

  // Computed under the lock, since the thread that spilled before may have freed enough.
  private long spill(LongSupplier wantedBytes, Predicate<SpillableBufferOwner> which) {
    spilling.lock();
    try {
      long wanted = wantedBytes.getAsLong();
      return wanted > 0
          ? new SpillPass(transfers, wanted)
              .run(SpillableBufferOwner.oldestFirst(onDevice.toList(), which))
          : 0;
    } finally {
      spilling.unlock();
    }
  }

  /** Destroys the manager's streams, after their work. Called when no quota is open. */
  @Override
  public void close() {
    transfers.close();
  }
}
