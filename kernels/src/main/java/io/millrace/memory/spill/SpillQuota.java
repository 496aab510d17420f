// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.annotation.PublicEvolving;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One job's bounded part of a {@link SpillManager}'s device, host and disk memory, with the job's
 * statistics. Thread-safe.
 */
@PublicEvolving
public final class SpillQuota implements AutoCloseable {
  // More than is freed beyond what is asked for, so that memory does not move back and forth.
  private static final int ROOM_FRACTION = 8;

  private final SpillManager manager;
  private final String name;
  private final SpillLimits limits;
  private final SpillStore store;
  private final AtomicLong deviceBytes = new AtomicLong();

  SpillQuota(SpillManager manager, String name, SpillLimits limits, SpillStore store) {
    this.manager = manager;
    this.name = name;
    this.limits = limits;
    this.store = store;
  }

  /**
   * Memory of the device that counts for this quota.
   *
   * @param hostBudget pays for the host memory that holds spilled buffers
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

  /** Bytes and times of this quota's transfers. */
  public SpillStatistics statistics() {
    return store.statistics();
  }

  /** Bytes of device memory held now. */
  public long deviceBytes() {
    return deviceBytes.get();
  }

  /** Bytes of pinned host memory that hold spilled buffers now. */
  public long hostBytes() {
    return store.hostBytes();
  }

  /** Bytes of disk that hold spilled buffers now. */
  public long diskBytes() {
    return store.diskBytes();
  }

  /**
   * Whether the device limits would have a part left if {@code bytes} more were held: memory that
   * returns then is not spilled at once. False without limits: the device itself is full then.
   */
  boolean hasDeviceRoom(long bytes) {
    return hasRoom(deviceBytes() + bytes, limits.deviceBytes())
        && hasRoom(manager.deviceBytes() + bytes, manager.deviceLimitBytes())
        && Math.min(limits.deviceBytes(), manager.deviceLimitBytes()) < Long.MAX_VALUE;
  }

  /** Whether this is at most half of the device limits: it may drive other memory out then. */
  boolean isWithinHalf(long bytes) {
    return bytes <= Math.min(limits.deviceBytes(), manager.deviceLimitBytes()) / 2;
  }

  private static boolean hasRoom(long bytes, long limit) {
    return bytes <= limit - limit / ROOM_FRACTION;
  }

  void addDeviceBytes(long bytes) {
    deviceBytes.addAndGet(bytes);
    manager.addDeviceBytes(bytes);
  }

  SpillStore store() {
    return store;
  }

  /** Deletes the quota's file. Called when all buffers of the quota are closed. */
  @Override
  public void close() {
    store.close();
  }
}
