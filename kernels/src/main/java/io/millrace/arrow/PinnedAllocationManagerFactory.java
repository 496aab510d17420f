// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.Internal;
import io.millrace.device.Device;
import io.millrace.device.StagingBuffer;
import org.apache.arrow.memory.AllocationManager;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.ReferenceManager;
import org.apache.arrow.memory.RootAllocator;

/**
 * Lets Arrow allocate pinned memory of a device's staging pool, so that vectors are copied to and
 * from the device without another copy on the host.
 */
@Internal
public final class PinnedAllocationManagerFactory implements AllocationManager.Factory {
  private final Device device;
  private final ArrowBuf empty = new ArrowBuf(ReferenceManager.NO_OP, null, 0, 0);

  public PinnedAllocationManagerFactory(Device device) {
    this.device = device;
  }

  /**
   * An allocator of memory pinned for {@code device}. The caller closes it after all vectors.
   *
   * @param limitBytes the largest number of bytes it may hold
   */
  public static BufferAllocator allocator(Device device, long limitBytes) {
    return new RootAllocator(
        RootAllocator.configBuilder()
            .maxAllocation(limitBytes)
            .allocationManagerFactory(new PinnedAllocationManagerFactory(device))
            .build());
  }

  /**
   * {@inheritDoc}
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if the host cannot pin that much
   */
  @Override
  public AllocationManager create(BufferAllocator accountingAllocator, long size) {
    return new PinnedAllocationManager(
        accountingAllocator, device.stagingPool().acquire(size), size);
  }

  @Override
  public ArrowBuf empty() {
    return empty;
  }

  private static final class PinnedAllocationManager extends AllocationManager {
    private final StagingBuffer staging;
    private final long size;

    PinnedAllocationManager(BufferAllocator accountingAllocator, StagingBuffer staging, long size) {
      super(accountingAllocator);
      this.staging = staging;
      this.size = size;
    }

    @Override
    public long getSize() {
      return size;
    }

    @Override
    protected long memoryAddress() {
      return staging.address();
    }

    @Override
    protected void release0() {
      staging.close();
    }
  }
}
