// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;

/** The host as a device: memory is the process's own, work is done when a call returns. */
@PublicEvolving
public final class HostDevice implements Device {
  /** The one host device. */
  public static final HostDevice INSTANCE = new HostDevice();

  private static final long ALIGNMENT = 64;
  private static final int HEADER_BYTES = 2 * Long.BYTES;

  private final FreedBlocks freedBlocks = new FreedBlocks(HostDevice::release);
  private final PinnedStagingPool stagingPool = new PinnedStagingPool(this);

  private HostDevice() {}

  @Override
  public DeviceKind kind() {
    return DeviceKind.HOST;
  }

  @Override
  public String description() {
    return "the host (" + Runtime.getRuntime().availableProcessors() + " processors, no GPU)";
  }

  @Override
  public int index() {
    return -1;
  }

  @Override
  public DeviceStream createStream() {
    return new HostStream();
  }

  @Override
  public long allocateAsync(long bytes, DeviceStream stream) {
    return allocate(bytes);
  }

  @Override
  public void freeAsync(long address, DeviceStream stream) {
    free(address);
  }

  // The two words before the aligned address are the block's own address and its capacity.
  @Override
  public long allocate(long bytes) {
    long capacity = FreedBlocks.capacity(bytes);
    if (FreedBlocks.keeps(capacity)) {
      long freed = freedBlocks.take(capacity);
      if (freed != 0) {
        return freed;
      }
    }
    long block = allocateBlock(capacity + ALIGNMENT + HEADER_BYTES);
    long address = (block + HEADER_BYTES + ALIGNMENT - 1) & -ALIGNMENT;
    HostMemory.putLong(address - Long.BYTES, block);
    HostMemory.putLong(address - HEADER_BYTES, capacity);
    return address;
  }

  private long allocateBlock(long bytes) {
    try {
      return HostMemory.allocate(bytes);
    } catch (OutOfMemoryError noRoomBesideFreedBlocks) {
      trim();
    }
    try {
      return HostMemory.allocate(bytes);
    } catch (OutOfMemoryError e) {
      throw new GpuOutOfMemoryException("the host has no " + bytes + " bytes left");
    }
  }

  @Override
  public void free(long address) {
    long capacity = HostMemory.getLong(address - HEADER_BYTES);
    if (FreedBlocks.keeps(capacity)) {
      freedBlocks.add(address, capacity);
    } else {
      release(address);
    }
  }

  private static void release(long address) {
    HostMemory.free(HostMemory.getLong(address - Long.BYTES));
  }

  /**
   * Gives the memory back to the process's allocator that was freed and is kept for later
   * allocations, 64 MiB at most.
   */
  public void trim() {
    freedBlocks.clear();
  }

  @Override
  public long allocatePinned(long bytes) {
    return allocate(bytes);
  }

  @Override
  public void freePinned(long address) {
    free(address);
  }

  @Override
  public PinnedStagingPool stagingPool() {
    return stagingPool;
  }

  @Override
  public KernelModule loadModule(String name) {
    throw new UnsupportedOperationException("the host device runs no compiled kernels: " + name);
  }

  @Override
  public long launchCount() {
    return 0;
  }

  /** Every method has done its work when it returns, so streams and events hold nothing. */
  private static final class HostStream implements DeviceStream {
    @Override
    public Device device() {
      return INSTANCE;
    }

    @Override
    public void copy(long targetAddress, long sourceAddress, long bytes) {
      HostMemory.copy(targetAddress, sourceAddress, bytes);
    }

    @Override
    public void fill(long address, byte value, long bytes) {
      HostMemory.fill(address, bytes, value);
    }

    @Override
    public DeviceEvent recordEvent() {
      return HostEvent.INSTANCE;
    }

    @Override
    public void waitFor(DeviceEvent event) {
      event.synchronize();
    }

    @Override
    public void waitForHandle(long eventHandle) {
      throw new UnsupportedOperationException("the host device has no events of the driver");
    }

    @Override
    public void synchronize() {}

    @Override
    public boolean isClosed() {
      return false;
    }

    @Override
    public void close() {}
  }

  private static final class HostEvent implements DeviceEvent {
    static final HostEvent INSTANCE = new HostEvent();

    @Override
    public boolean isReached() {
      return true;
    }

    @Override
    public void synchronize() {}

    @Override
    public long handle() {
      return 0;
    }

    @Override
    public DeviceEvent retain() {
      return this;
    }

    @Override
    public void close() {}
  }
}
