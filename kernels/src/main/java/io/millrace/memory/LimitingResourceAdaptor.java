package io.millrace.memory;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import java.util.concurrent.atomic.AtomicLong;

/** Refuses to hold more than a number of bytes at once. */
public final class LimitingResourceAdaptor implements MemoryResource {
  private final MemoryResource upstream;
  private final long limitBytes;
  private final AtomicLong heldBytes = new AtomicLong();

  public LimitingResourceAdaptor(MemoryResource upstream, long limitBytes) {
    this.upstream = upstream;
    this.limitBytes = limitBytes;
  }

  @Override
  public Device device() {
    return upstream.device();
  }

  /**
   * {@inheritDoc}
   *
   * @throws GpuOutOfMemoryException also if the limit would be passed
   */
  @Override
  public long allocate(long bytes, DeviceStream stream) {
    long held = heldBytes.addAndGet(bytes);
    if (held > limitBytes) {
      heldBytes.addAndGet(-bytes);
      throw new GpuOutOfMemoryException(
          bytes
              + " bytes more would pass the limit of "
              + limitBytes
              + " bytes; "
              + (held - bytes)
              + " are held");
    }
    try {
      return upstream.allocate(bytes, stream);
    } catch (RuntimeException | Error e) {
      heldBytes.addAndGet(-bytes);
      throw e;
    }
  }

  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    upstream.free(address, bytes, stream);
    heldBytes.addAndGet(-bytes);
  }

  public long heldBytes() {
    return heldBytes.get();
  }
}
