package io.millrace.device;

/** The host as a device: memory is the process's own, work is done when a call returns. */
public final class HostDevice implements Device {
  /** The one host device. */
  public static final HostDevice INSTANCE = new HostDevice();

  private static final long ALIGNMENT = 64;

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

  // The block's own address is kept in the word before the aligned one.
  @Override
  public long allocate(long bytes) {
    long block;
    try {
      block = HostMemory.allocate(bytes + ALIGNMENT + Long.BYTES);
    } catch (OutOfMemoryError e) {
      throw new GpuOutOfMemoryException("the host has no " + bytes + " bytes left");
    }
    long address = (block + Long.BYTES + ALIGNMENT - 1) & -ALIGNMENT;
    HostMemory.putLong(address - Long.BYTES, block);
    return address;
  }

  @Override
  public void free(long address) {
    HostMemory.free(HostMemory.getLong(address - Long.BYTES));
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
