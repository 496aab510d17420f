// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.SpillTier;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One job's bounded part of a {@link SpillManager}'s device, host and disk memory, and what is
 * counted of it. Thread-safe.
 */
@PublicEvolving
public final class SpillQuota implements AutoCloseable {
  private final SpillManager manager;
  private final String name;
  private final SpillLimits limits;
  private final SpillStatistics statistics;
  private final SpillFile file;
  private final Set<SpillableBufferOwner> onHost = ConcurrentHashMap.newKeySet();
  private final AtomicLong deviceBytes = new AtomicLong();
  private final AtomicLong hostBytes = new AtomicLong();

  SpillQuota(SpillManager manager, String name, SpillLimits limits) {
    this.manager = manager;
    this.name = name;
    this.limits = limits;
    this.statistics = new SpillStatistics(limits.statisticsLevel(), manager.statistics());
    this.file =
        limits.isEnabled() && !limits.directories().isEmpty()
            ? SpillFile.in(limits.directories(), limits.diskBytes())
            : null;
  }

  /**
   * Memory of the device that counts for this share.
   *
   * @param hostBudget pays for the host memory that spilled buffers take
   */
  public SpillableResourceAdaptor resource(MemoryBudget hostBudget) {
    return new SpillableResourceAdaptor(this, hostBudget);
  }

  public SpillManager manager() {
    return manager;
  }

  public String name() {
    return name;
  }

  public SpillLimits limits() {
    return limits;
  }

  /** Bytes and times of this share's transfers. */
  public SpillStatistics statistics() {
    return statistics;
  }

  /** Bytes of device memory held now. */
  public long deviceBytes() {
    return deviceBytes.get();
  }

  /** Bytes of pinned host memory that hold spilled buffers now. */
  public long hostBytes() {
    return hostBytes.get();
  }

  /** Bytes of disk that hold spilled buffers now. */
  public long diskBytes() {
    return file == null ? 0 : file.heldBytes();
  }

  void addDeviceBytes(long bytes) {
    deviceBytes.addAndGet(bytes);
    manager.addDeviceBytes(bytes);
  }

  void makeRoomOnDevice(long bytes) {
    manager.makeRoom(bytes, this);
  }

  boolean hasDisk() {
    return file != null;
  }

  SpillFile file() {
    return file;
  }

  /**
   * Host memory for all of {@code owner}, for which older buffers may go to disk. Called by the
   * thread that spills.
   *
   * @return 0 if there is no room
   */
  long allocateHost(SpillableBufferOwner owner) {
    if (!reserveHost(owner.size(), owner.hostBudget())) {
      return 0;
    }
    try {
      return manager.hostMemory().allocate(owner.size(), manager.transfers().spillStream());
    } catch (GpuOutOfMemoryException hostCannotPin) {
      releaseHost(owner);
      return 0;
    } catch (RuntimeException | Error e) {
      releaseHost(owner);
      throw e;
    }
  }

  // What is freed for the limit may be of any budget, what is freed for the budget is its own.
  private boolean reserveHost(long bytes, MemoryBudget budget) {
    if (bytes > limits.hostBytes()) {
      return false;
    }
    if (tryReserveHost(bytes, budget)) {
      return true;
    }
    if (file == null) {
      return false;
    }
    for (SpillableBufferOwner owner : SpillableBufferOwner.oldestFirst(onHost, any -> true)) {
      boolean helps = !isWithinHostLimit(bytes) || owner.hostBudget() == budget;
      if (helps && moveToDiskIfIdle(owner) && tryReserveHost(bytes, budget)) {
        return true;
      }
    }
    return false;
  }

  private boolean tryReserveHost(long bytes, MemoryBudget budget) {
    boolean reserved = isWithinHostLimit(bytes) && budget.tryReserve(bytes);
    if (reserved) {
      hostBytes.addAndGet(bytes);
    }
    return reserved;
  }

  private boolean isWithinHostLimit(long moreBytes) {
    return hostBytes.get() <= limits.hostBytes() - moreBytes;
  }

  private void releaseHost(SpillableBufferOwner owner) {
    owner.hostBudget().release(owner.size());
    hostBytes.addAndGet(-owner.size());
  }

  void freeHost(SpillableBufferOwner owner, long address) {
    manager.hostMemory().free(address, owner.size(), manager.transfers().spillStream());
    releaseHost(owner);
  }

  void arrivedOnHost(SpillableBufferOwner owner, long nanos) {
    onHost.add(owner);
    statistics.moved(SpillTier.DEVICE, SpillTier.HOST, owner.size(), nanos);
  }

  private boolean moveToDiskIfIdle(SpillableBufferOwner owner) {
    if (!owner.beginMove()) {
      return false;
    }
    try {
      boolean isOnHost = owner.tier() == SpillTier.HOST;
      if (isOnHost) {
        long address = owner.keptAddress();
        copyToDisk(owner, SpillTier.HOST);
        onHost.remove(owner);
        freeHost(owner, address);
      }
      return isOnHost;
    } finally {
      owner.endMove();
    }
  }

  /** Writes {@code owner}'s memory to disk, where it is from then on. */
  void copyToDisk(SpillableBufferOwner owner, SpillTier from) {
    SpillTransfers transfers = manager.transfers();
    long startNanos = transfers.nanoTime();
    owner.movedToDisk(transfers.toDisk(file, from, owner.keptAddress(), owner.size()));
    statistics.moved(from, SpillTier.DISK, owner.size(), transfers.nanoTime() - startNanos);
  }

  /**
   * Frees the host or disk memory that {@code owner} was kept in.
   *
   * @param region where it was on disk; null if it was at {@code hostAddress}
   */
  void freeSpilled(SpillableBufferOwner owner, long hostAddress, SpillFile.Region region) {
    if (region == null) {
      onHost.remove(owner);
      freeHost(owner, hostAddress);
    } else {
      file.free(region);
    }
  }

  /** Deletes the share's file. Called when all of the share's buffers are closed. */
  @Override
  public void close() {
    if (file != null) {
      file.close();
    }
  }
}
