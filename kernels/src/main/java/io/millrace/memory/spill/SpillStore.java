// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.SpillTier;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The host and disk memory that holds the spilled buffers of one {@link SpillQuota}, and the
 * statistics of the transfers to and from it. Thread-safe.
 */
final class SpillStore implements AutoCloseable {
  private final SpillLimits limits;
  private final MemoryResource hostMemory;
  private final SpillTransfers transfers;
  private final SpillStatistics statistics;
  private final SpillFile file;
  private final Set<SpillableBufferOwner> onHost = ConcurrentHashMap.newKeySet();
  private final AtomicLong hostBytes = new AtomicLong();

  SpillStore(
      SpillLimits limits,
      MemoryResource hostMemory,
      SpillTransfers transfers,
      SpillStatistics statistics) {
    this.limits = limits;
    this.hostMemory = hostMemory;
    this.transfers = transfers;
    this.statistics = statistics;
    this.file =
        limits.isEnabled() && !limits.directories().isEmpty()
            ? SpillFile.in(limits.directories(), limits.diskBytes())
            : null;
  }

  SpillStatistics statistics() {
    return statistics;
  }

  /** Bytes of pinned host memory that hold spilled buffers now. */
  long hostBytes() {
    return hostBytes.get();
  }

  /** Bytes of disk that hold spilled buffers now. */
  long diskBytes() {
    return file == null ? 0 : file.heldBytes();
  }

  boolean hasDisk() {
    return file != null;
  }

  /** The stream that orders host memory. */
  DeviceStream spillStream() {
    return transfers.spillStream();
  }

  /** The stream of copies back to the device. */
  DeviceStream unspillStream() {
    return transfers.unspillStream();
  }

  /**
   * Allocates host memory for all of {@code owner}, for which older buffers may go to disk. Called
   * by the thread that spills.
   *
   * @return 0 if there is no room
   */
  long allocateHost(SpillableBufferOwner owner) {
    return reserveHost(owner.size(), owner.hostBudget()) ? allocateReserved(owner) : 0;
  }

  /**
   * Allocates host memory for {@code owner}, whose memory never was on the device, if there is room
   * already.
   *
   * @return 0 if there is no room
   */
  long allocateHostAtFirst(SpillableBufferOwner owner) {
    long address = tryReserveHost(owner.size(), owner.hostBudget()) ? allocateReserved(owner) : 0;
    if (address != 0) {
      onHost.add(owner);
    }
    return address;
  }

  private long allocateReserved(SpillableBufferOwner owner) {
    try {
      return hostMemory.allocate(owner.size(), transfers.spillStream());
    } catch (GpuOutOfMemoryException hostCannotPin) {
      releaseHost(owner);
      return 0;
    } catch (RuntimeException | Error e) {
      releaseHost(owner);
      throw e;
    }
  }

  // Any owner's move to disk helps with the limit; with a budget, only a move of its own owners.
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

  private synchronized boolean tryReserveHost(long bytes, MemoryBudget budget) {
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
    hostMemory.free(address, owner.size(), transfers.spillStream());
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
        if (owner.orderBehindUseOnHost(transfers.spillStream())) {
          transfers.spillStream().synchronize();
        }
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

  /** Writes the memory of {@code owner} to disk and makes the disk its tier. */
  void copyToDisk(SpillableBufferOwner owner, SpillTier from) {
    long startNanos = transfers.nanoTime();
    owner.movedToDisk(transfers.toDisk(file, from, owner.keptAddress(), owner.size()));
    statistics.moved(from, SpillTier.DISK, owner.size(), transfers.nanoTime() - startNanos);
  }

  /** Copies the spilled memory of {@code owner} to {@code deviceAddress}. */
  void copyToDevice(SpillableBufferOwner owner, long deviceAddress) {
    SpillTier from = owner.tier();
    long startNanos = transfers.nanoTime();
    if (from == SpillTier.HOST) {
      transfers.hostToDevice(owner.keptAddress(), deviceAddress, owner.size());
    } else {
      transfers.diskToDevice(file, owner.region(), deviceAddress, owner.size());
    }
    statistics.moved(from, SpillTier.DEVICE, owner.size(), transfers.nanoTime() - startNanos);
  }

  /**
   * Frees the host or disk memory that held {@code owner}.
   *
   * @param region the region on disk; null if the memory was at {@code hostAddress}
   */
  void free(SpillableBufferOwner owner, long hostAddress, SpillFile.Region region) {
    if (region == null) {
      onHost.remove(owner);
      freeHost(owner, hostAddress);
    } else {
      file.free(region);
    }
  }

  /** Deletes the file. */
  @Override
  public void close() {
    if (file != null) {
      file.close();
    }
  }
}
