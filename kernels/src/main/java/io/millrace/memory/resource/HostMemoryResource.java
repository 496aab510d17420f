// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.MemoryResource;

/** Ordinary host memory, straight from the process's allocator. */
@PublicEvolving
public final class HostMemoryResource implements MemoryResource {
  public static final HostMemoryResource INSTANCE = new HostMemoryResource();

  private HostMemoryResource() {}

  @Override
  public Device device() {
    return HostDevice.INSTANCE;
  }

  @Override
  public long allocate(long bytes, DeviceStream stream) {
    return bytes == 0 ? 0 : HostDevice.INSTANCE.allocate(bytes);
  }

  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    if (bytes > 0) {
      HostDevice.INSTANCE.free(address);
    }
  }
}
