// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;

/**
 * The CUDA driver's stream-ordered allocator. The driver gives unused memory back at each
 * synchronization, so put a {@link PoolMemoryResource} over it where that costs too much. Sizes are
 * rounded up as in {@link CudaMemoryResource}.
 */
@PublicEvolving
public final class CudaAsyncMemoryResource implements MemoryResource {
  private final Device device;

  public CudaAsyncMemoryResource(Device device) {
    this.device = device;
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public long allocate(long bytes, DeviceStream stream) {
    return bytes == 0 ? 0 : device.allocateAsync(CudaMemoryResource.wholeWords(bytes), stream);
  }

  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    if (bytes > 0) {
      device.freeAsync(address, stream);
    }
  }
}
