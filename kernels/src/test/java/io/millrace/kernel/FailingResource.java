package io.millrace.kernel;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.MemoryResource;

/** Gives the first allocations and then fails. */
final class FailingResource implements MemoryResource {
  private final MemoryResource upstream;
  private int left;

  FailingResource(MemoryResource upstream, int allocations) {
    this.upstream = upstream;
    this.left = allocations;
  }

  @Override
  public Device device() {
    return upstream.device();
  }

  @Override
  public long allocate(long bytes, DeviceStream stream) {
    if (left-- <= 0) {
      throw new GpuOutOfMemoryException("out of memory on purpose");
    }
    return upstream.allocate(bytes, stream);
  }

  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    upstream.free(address, bytes, stream);
  }
}
