// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.SpillTier;
import io.millrace.memory.resource.FailureCallbackResourceAdaptor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Moves buffers that are not being accessed from a device to pinned host memory, from there to
 * disk, and back when they are accessed. All jobs of a process that use a device share its manager;
 * each has a {@link SpillQuota}. Thread-safe.
 *
 * <p>What goes first is what was least recently used and, of buffers used at the same time, the
 * largest, because it takes the fewest transfers. Buffers are spilled when an allocation would pass
 * a device limit and, on demand, when the device refuses one. Transfers run on streams of their
 * own, beside the work of the jobs; only who needs the memory waits for them.
 *
 * <p>Whoever moves a buffer holds its owner's lock. A thread that holds an owner's lock takes those
 * of others only without waiting, so no two threads wait for each other.
 */
@PublicEvolving
public final class SpillManager implements AutoCloseable {
  // Spilling a little more than asked for leaves the next allocations without a search.
  private static final int SLACK_SHARE = 16;

  private final MemoryResource upstream;
  private final MemoryResource hostMemory;
  private final SpillTransfers transfers;
  private final long deviceLimitBytes;
  private final SpillStatistics statistics;
  private final SpillCandidates onDevice = new SpillCandidates();
  private final ReentrantLock spilling = new ReentrantLock();
  private final AtomicLong deviceBytes = new AtomicLong();
  private final AtomicLong ticks = new AtomicLong();

  /**
   * @param deviceMemory what buffers are allocated from
   * @param hostMemory pinned memory for spilled buffers, ordered by streams of the same device
   * @param deviceLimitBytes of all shares; soft, as {@link SpillLimits#deviceBytes}
   * @param onDemand whether to spill when {@code deviceMemory} has no more left
   * @param statistics counts for all shares
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
   * Opens a share for one job.
   *
   * @param name for people, in error messages
   * @throws SpillException if none of the limits' directories can be written to
   */
  public SpillQuota openQuota(String name, SpillLimits limits) {
    return new SpillQuota(this, name, limits);
  }

  /** Bytes and times of all shares' transfers since the process began. */
  public SpillStatistics statistics() {
    return statistics;
  }

  /** Bytes of device memory that all shares hold now. */
  public long deviceBytes() {
    return deviceBytes.get();
  }

  /** See {@link SpillLimits#deviceBytes}. */
  public long deviceLimitBytes() {
    return deviceLimitBytes;
  }

  /**
   * Spills buffers of any share until {@code bytes} bytes of device memory are free that were not,
   * or nothing more can be spilled.
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

  MemoryResource hostMemory() {
    return hostMemory;
  }

  SpillTransfers transfers() {
    return transfers;
  }

  long nextTick() {
    return ticks.incrementAndGet();
  }

  long currentTick() {
    return ticks.get();
  }

  void add(SpillableBufferOwner owner) {
    onDevice.add(owner);
  }

  void addDeviceBytes(long bytes) {
    deviceBytes.addAndGet(bytes);
  }

  /** Spills until {@code bytes} bytes more fit the limits, or nothing more can be spilled. */
  void makeRoom(long bytes, SpillQuota share) {
    long shareLimit = share.limits().deviceBytes();
    checkPossible(bytes, Math.min(shareLimit, deviceLimitBytes), share);
    if (share.deviceBytes() + bytes > shareLimit) {
      spill(() -> excess(share.deviceBytes() + bytes, shareLimit), owner -> owner.quota() == share);
    }
    if (deviceBytes() + bytes > deviceLimitBytes) {
      spill(() -> excess(deviceBytes() + bytes, deviceLimitBytes), owner -> true);
    }
  }

  private static void checkPossible(long bytes, long limit, SpillQuota share) {
    if (bytes > limit) {
      throw new GpuOutOfMemoryException(
          bytes
              + " bytes in one buffer are more than the device limit of "
              + limit
              + " bytes that "
              + share.name()
              + " has; set millrace.spill.device-limit to more, or make batches smaller");
    }
  }

  private static long excess(long bytes, long limit) {
    return bytes > limit ? bytes - limit + limit / SLACK_SHARE : 0;
  }

  // What is wanted is asked for once no one else spills, who may have freed enough.
  private long spill(LongSupplier wantedBytes, Predicate<SpillableBufferOwner> which) {
    spilling.lock();
    try {
      long wanted = wantedBytes.getAsLong();
      return wanted > 0
          ? new SpillPass(this, wanted)
              .run(SpillableBufferOwner.oldestFirst(onDevice.toList(), which))
          : 0;
    } finally {
      spilling.unlock();
    }
  }

  /** Ends a move off the device, whose memory no work uses any more. */
  void leftDevice(SpillableBufferOwner owner, long address) {
    onDevice.remove(owner);
    owner.resource().free(address, owner.size(), transfers.spillStream());
  }

  /**
   * Brings memory back to the device, under its owner's lock. Where that fails nothing has changed;
   * where only the host or disk memory cannot be freed, the memory is back all the same.
   */
  void unspill(SpillableBufferOwner owner) {
    DeviceStream stream = transfers.unspillStream();
    long address = owner.resource().allocate(owner.size(), stream);
    try {
      transfers.toDevice(owner, address);
    } catch (RuntimeException | Error e) {
      owner.resource().free(address, owner.size(), stream);
      throw e;
    }
    long hostAddress = owner.keptAddress();
    SpillFile.Region region = owner.region();
    owner.movedToDevice(address, stream);
    onDevice.add(owner);
    owner.quota().freeSpilled(owner, hostAddress, region);
  }

  void exposed(SpillableBufferOwner owner, boolean wasSpilled) {
    onDevice.remove(owner);
    owner.quota().statistics().exposed(owner.size(), wasSpilled);
  }

  /** Frees the memory of an owner that has no slices left. */
  void free(SpillableBufferOwner owner) {
    if (owner.tier() == SpillTier.DEVICE) {
      onDevice.remove(owner);
      owner.resource().free(owner.keptAddress(), owner.size(), owner.stream());
    } else {
      owner.quota().freeSpilled(owner, owner.keptAddress(), owner.region());
    }
  }

  /** Destroys the manager's streams, after their work. Called when no share is open. */
  @Override
  public void close() {
    transfers.close();
  }
}
