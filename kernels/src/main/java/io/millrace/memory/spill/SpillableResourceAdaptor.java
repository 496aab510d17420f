// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.Buffer;
import io.millrace.memory.BufferOwner;
import io.millrace.memory.MemoryResource;

/**
 * Device memory of one {@link SpillQuota}: buffers allocated from it are spilled when memory runs
 * out, and are brought back when they are accessed. What is kept in host memory meanwhile is paid
 * from the budget of this adaptor. Put it outermost: adaptors around it hide that its buffers are
 * spillable.
 *
 * <p>Each allocation first makes room within the share's and the manager's device limit, by
 * spilling what was least recently used; if the device refuses it all the same, more is spilled as
 * long as that helps.
 */
@PublicEvolving
public final class SpillableResourceAdaptor implements MemoryResource {
  private final SpillQuota quota;
  private final MemoryBudget hostBudget;

  SpillableResourceAdaptor(SpillQuota share, MemoryBudget hostBudget) {
    this.quota = share;
    this.hostBudget = hostBudget;
  }

  /** The share that this memory counts for. */
  public SpillQuota quota() {
    return quota;
  }

  MemoryBudget hostBudget() {
    return hostBudget;
  }

  @Override
  public Device device() {
    return quota.manager().device();
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
   * {@inheritDoc} Memory that is asked for here, and not through {@link Buffer#allocate}, counts
   * for the share but stays where it is.
   *
   * @throws GpuOutOfMemoryException also if {@code bytes} is more than a device limit allows at all
   * @throws SpillException if room cannot be made because a disk fails or is full
   */
  @Override
  public long allocate(long bytes, DeviceStream stream) {
    quota.makeRoomOnDevice(bytes);
    long address = quota.manager().upstream().allocate(bytes, stream);
    quota.addDeviceBytes(bytes);
    return address;
  }

  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    quota.manager().upstream().free(address, bytes, stream);
    quota.addDeviceBytes(-bytes);
  }

  @Override
  public BufferOwner allocateOwner(long bytes, DeviceStream stream) {
    if (bytes == 0 || !isSpillable()) {
      return MemoryResource.super.allocateOwner(bytes, stream);
    }
    SpillableBufferOwner owner =
        new SpillableBufferOwner(this, allocate(bytes, stream), bytes, stream);
    quota.manager().add(owner);
    return owner;
  }
}
