// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.BufferOwner;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.SpillTier;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/**
 * Memory that moves between the device, pinned host memory and disk while no access is open, once
 * for all slices. All moves are made under the owner's lock.
 */
final class SpillableBufferOwner extends BufferOwner {
  private static final Comparator<Age> LEAST_RECENT_THEN_LARGEST =
      Comparator.comparingLong(Age::lastAccess)
          .thenComparing(Comparator.comparingLong(Age::size).reversed());

  // The neighbours in the list of candidates, guarded by the list.
  SpillableBufferOwner previous;
  SpillableBufferOwner next;

  private final SpillableResourceAdaptor resource;
  private final MemoryBudget hostBudget;
  private final SpillCandidates onDevice;
  private final SpillStore store;
  // null while the memory is on the device.
  private volatile SpillTier spilledTo;
  // Read without the lock to sort owners; a stale value is good enough.
  private long lastAccess;
  // On the device or the host, depending on the tier.
  private long address;
  private SpillFile.Region region;
  // Whether work on a stream may use the memory where it lies on the host.
  private boolean usedOnHost;
  // Read without the lock only while an access is open, which prevents moves.
  private DeviceStream stream;

  // A snapshot: sorting fails if keys change meanwhile, and owners are accessed at any time.
  private record Age(SpillableBufferOwner owner, long lastAccess, long size) {
    private Age(SpillableBufferOwner owner) {
      this(owner, owner.lastAccess, owner.size());
    }
  }

  SpillableBufferOwner(
      SpillableResourceAdaptor resource,
      MemoryBudget hostBudget,
      SpillCandidates onDevice,
      SpillStore store,
      long address,
      long size,
      DeviceStream stream) {
    super(size);
    this.resource = resource;
    this.hostBudget = hostBudget;
    this.onDevice = onDevice;
    this.store = store;
    this.address = address;
    this.stream = stream;
    this.lastAccess = onDevice.nextTick();
  }

  /** The owners that pass {@code which}, in eviction order. */
  static List<SpillableBufferOwner> oldestFirst(
      Collection<SpillableBufferOwner> owners, Predicate<SpillableBufferOwner> which) {
    return owners.stream()
        .filter(which)
        .map(Age::new)
        .sorted(LEAST_RECENT_THEN_LARGEST)
        .map(Age::owner)
        .toList();
  }

  SpillStore store() {
    return store;
  }

  MemoryBudget hostBudget() {
    return hostBudget;
  }

  @Override
  public Device device() {
    return resource.device();
  }

  @Override
  public MemoryResource resource() {
    return resource;
  }

  @Override
  public DeviceStream stream() {
    return stream;
  }

  @Override
  public SpillTier tier() {
    SpillTier tier = spilledTo;
    return tier == null ? SpillTier.DEVICE : tier;
  }

  @Override
  public long address() {
    lastAccess = onDevice.currentTick();
    if (spilledTo == null) {
      return address;
    }
    if (staysOnHost()) {
      usedOnHost = true;
    } else {
      unspill();
    }
    return address;
  }

  // Another access in place is open, whose work may have the host address. A GPU reads and writes
  // pinned memory, too.
  private boolean staysOnHost() {
    return spilledTo == SpillTier.HOST && isAccessed();
  }

  @Override
  public long addressInPlace(boolean isUse) {
    // What can be used on the host is spilled before what would have to return: only a use counts
    // as an access.
    if (isUse) {
      lastAccess = onDevice.currentTick();
    }
    if (spilledTo == null) {
      return address;
    }
    if (staysOnHost()) {
      usedOnHost = true;
      return address;
    }
    if (spilledTo == SpillTier.DISK) {
      return address();
    }
    SpillQuota quota = resource.quota();
    boolean returns = quota.hasDeviceRoom(size()) || (isUse && quota.isWithinHalf(size()));
    if (!returns || !unspillIfPossible()) {
      usedOnHost = true;
    }
    return address;
  }

  // The device may be fuller than the limits say.
  private boolean unspillIfPossible() {
    try {
      unspill();
      lastAccess = onDevice.currentTick();
      return true;
    } catch (GpuOutOfMemoryException e) {
      return false;
    }
  }

  @Override
  public BufferOwner allocateBeside(long bytes, DeviceStream user) {
    if (spilledTo != SpillTier.HOST) {
      return super.allocateBeside(bytes, user);
    }
    return resource
        .allocateOwnerOnHost(bytes, user)
        .orElseGet(() -> super.allocateBeside(bytes, user));
  }

  /**
   * Takes host memory for an owner that has no memory yet. No other thread moves the memory before
   * there is some: a move takes the lock.
   *
   * @return false if the host has too little memory
   */
  boolean beginOnHost() {
    if (!beginMove()) {
      throw new IllegalStateException("the memory is in use before it is allocated");
    }
    try {
      address = store.allocateHostAtFirst(this);
      if (address == 0) {
        return false;
      }
      waitForHostMemory();
      spilledTo = SpillTier.HOST;
      return true;
    } finally {
      endMove();
    }
  }

  private void waitForHostMemory() {
    try {
      stream.waitFor(store.spillStream());
    } catch (RuntimeException | Error e) {
      store.free(this, address, null);
      throw e;
    }
  }

  /**
   * Makes {@code mover} wait for work that used the memory where it lies on the host. Under the
   * lock.
   *
   * @return whether there may be such work
   */
  boolean orderBehindUseOnHost(DeviceStream mover) {
    boolean wasUsed = usedOnHost;
    if (wasUsed) {
      orderMove(mover);
      usedOnHost = false;
    }
    return wasUsed;
  }

  // If the copy fails, nothing has changed. If only freeing the host or disk memory fails, the
  // memory is back on the device nevertheless.
  private void unspill() {
    DeviceStream unspillStream = store.unspillStream();
    long deviceAddress = resource.allocate(size(), unspillStream);
    try {
      orderBehindUseOnHost(unspillStream);
      store.copyToDevice(this, deviceAddress);
      forgetUses();
    } catch (RuntimeException | Error e) {
      resource.free(deviceAddress, size(), unspillStream);
      throw e;
    }
    long hostAddress = address;
    SpillFile.Region diskRegion = region;
    address = deviceAddress;
    region = null;
    stream = unspillStream;
    spilledTo = null;
    onDevice.add(this);
    store.free(this, hostAddress, diskRegion);
  }

  /** The address on the device or the host, under the lock. */
  long keptAddress() {
    return address;
  }

  /** The region on disk, under the lock. */
  SpillFile.Region region() {
    return region;
  }

  void movedToHost(long hostAddress) {
    address = hostAddress;
    spilledTo = SpillTier.HOST;
    forgetUses();
  }

  void movedToDisk(SpillFile.Region diskRegion) {
    address = 0;
    region = diskRegion;
    spilledTo = SpillTier.DISK;
    forgetUses();
  }

  /**
   * Ends a move off the device.
   *
   * @param deviceAddress memory that no work uses any more
   * @param mover the stream that made the move
   */
  void leftDevice(long deviceAddress, DeviceStream mover) {
    onDevice.remove(this);
    resource.free(deviceAddress, size(), mover);
  }

  @Override
  public void onExposed(boolean wasSpilled) {
    onDevice.remove(this);
    store.statistics().exposed(size(), wasSpilled);
  }

  @Override
  public void free() {
    if (tier() == SpillTier.DEVICE) {
      leftDevice(address, stream);
    } else {
      orderBehindUseOnHost(store.spillStream());
      store.free(this, address, region);
    }
  }
}
