// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.BufferOwner;
import io.millrace.memory.SpillTier;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/**
 * Memory that its {@link SpillManager} moves between the device, pinned host memory and disk while
 * no access is open, once for all slices. All moves are made under the owner's lock.
 */
final class SpillableBufferOwner extends BufferOwner {
  private static final Comparator<Age> LEAST_RECENT_THEN_LARGEST =
      Comparator.comparingLong(Age::lastAccess)
          .thenComparing(Comparator.comparingLong(Age::size).reversed());

  private final SpillableResourceAdaptor resource;
  private final SpillCandidates.Links links = new SpillCandidates.Links();
  // null: on the device, where every owner begins.
  private volatile SpillTier spilledTo;
  // Read without the lock to put owners in order, for which an old value does.
  private long lastAccess;
  // On the device or the host, by tier.
  private long address;
  private SpillFile.Region region;
  // Read without the lock only while an access is open, which keeps it as it is.
  private DeviceStream stream;

  // Owners are accessed while they are sorted, which no sort stands.
  private record Age(SpillableBufferOwner owner, long lastAccess, long size) {
    private Age(SpillableBufferOwner owner) {
      this(owner, owner.lastAccess, owner.size());
    }
  }

  SpillableBufferOwner(
      SpillableResourceAdaptor resource, long address, long size, DeviceStream stream) {
    super(size);
    this.resource = resource;
    this.address = address;
    this.stream = stream;
    this.lastAccess = manager().nextTick();
  }

  /** Those of {@code owners} to move first come first. */
  static List<SpillableBufferOwner> oldestFirst(
      Collection<SpillableBufferOwner> owners, Predicate<SpillableBufferOwner> which) {
    return owners.stream()
        .filter(which)
        .map(Age::new)
        .sorted(LEAST_RECENT_THEN_LARGEST)
        .map(Age::owner)
        .toList();
  }

  private SpillManager manager() {
    return resource.quota().manager();
  }

  SpillQuota quota() {
    return resource.quota();
  }

  SpillCandidates.Links links() {
    return links;
  }

  MemoryBudget hostBudget() {
    return resource.hostBudget();
  }

  @Override
  public Device device() {
    return resource.device();
  }

  @Override
  public SpillableResourceAdaptor resource() {
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
    lastAccess = manager().currentTick();
    if (spilledTo != null) {
      manager().unspill(this);
    }
    return address;
  }

  /** The address on the device or the host, under the lock. */
  long keptAddress() {
    return address;
  }

  /** Where the memory is on disk, under the lock. */
  SpillFile.Region region() {
    return region;
  }

  void movedToDevice(long deviceAddress, DeviceStream orderedBy) {
    address = deviceAddress;
    region = null;
    stream = orderedBy;
    spilledTo = null;
  }

  void movedToHost(long hostAddress) {
    address = hostAddress;
    spilledTo = SpillTier.HOST;
    forgetUses();
  }

  void movedToDisk(SpillFile.Region where) {
    address = 0;
    region = where;
    spilledTo = SpillTier.DISK;
    forgetUses();
  }

  @Override
  public void onExposed(boolean wasSpilled) {
    manager().exposed(this, wasSpilled);
  }

  @Override
  public void free() {
    manager().free(this);
  }
}
