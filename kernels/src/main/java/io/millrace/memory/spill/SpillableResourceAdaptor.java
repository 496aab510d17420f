// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.Buffer;
import io.millrace.memory.BufferOwner;
import io.millrace.memory.MemoryResource;
import java.util.Optional;

/**
 * Device memory of one {@link SpillQuota}: its buffers are spilled when memory runs out and return
 * to the device when they are accessed. The budget of this adaptor pays for the host memory that
 * holds them meanwhile. It must be the outermost adaptor: an adaptor around it would hide that its
 * buffers are spillable.
 *
 * <p>Each allocation first makes room within the device limits of the quota and of the manager by
 * spilling the least recently used buffers; if the device still refuses the allocation, more is
 * spilled as long as that helps.
 */
@PublicEvolving
public final class SpillableResourceAdaptor implements MemoryResource {
  private final SpillQuota quota;
  private final SpillManager manager;
  private final MemoryBudget hostBudget;

  SpillableResourceAdaptor(SpillQuota quota, MemoryBudget hostBudget) {
    this.quota = quota;
    this.manager = quota.manager();
    this.hostBudget = hostBudget;
  }

  /** The quota that this memory counts for. */
  public SpillQuota quota() {
    return quota;
  }

  @Override
  public Device device() {
    return manager.device();
  }

  @Override
  public boolean copiesOnWrite() {
    return quota.limits().copyOnWrite();
  }

  /** Whether buffers of this memory are spillable. */
  public boolean isSpillable() {
    return quota.limits().isEnabled();
  }

  /**
   * {@inheritDoc} Memory that is allocated here, and not through {@link Buffer#allocate}, counts
   * for the quota but is never moved.
   *
   * @throws GpuOutOfMemoryException also if {@code bytes} is more than a device limit
   * @throws SpillException if room cannot be made because a disk fails or is full
   */
  @Override
  public long allocate(long bytes, DeviceStream stream) {
    manager.makeRoom(bytes, quota);
    long address = manager.upstream().allocate(bytes, stream);
    quota.addDeviceBytes(bytes);
    return address;
  }

  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    manager.upstream().free(address, bytes, stream);
    quota.addDeviceBytes(-bytes);
  }

  @Override
  public BufferOwner allocateOwner(long bytes, DeviceStream stream) {
    if (bytes == 0 || !isSpillable()) {
      return MemoryResource.super.allocateOwner(bytes, stream);
    }
    SpillCandidates onDevice = manager.onDevice();
    SpillableBufferOwner owner =
        new SpillableBufferOwner(
            this, hostBudget, onDevice, quota.store(), allocate(bytes, stream), bytes, stream);
    onDevice.add(owner);
    return owner;
  }

  @Override
  public BufferOwner allocateOwnerInPlace(long bytes, DeviceStream stream) {
    try {
      return allocateOwner(bytes, stream);
    } catch (GpuOutOfMemoryException e) {
      if (!isSpillable()) {
        throw e;
      }
      return allocateOwnerOnHost(bytes, stream).orElseThrow(() -> e);
    }
  }

  /** An owner whose memory begins in pinned host memory; empty if there is too little. */
  Optional<BufferOwner> allocateOwnerOnHost(long bytes, DeviceStream stream) {
    SpillableBufferOwner owner =
        new SpillableBufferOwner(
            this, hostBudget, manager.onDevice(), quota.store(), 0, bytes, stream);
    return owner.beginOnHost() ? Optional.of(owner) : Optional.empty();
  }
}
