// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;

/**
 * Host memory pinned for one device, with one driver allocation for each request. The host reads
 * and writes it, the device copies it at full speed, and streams of that device order it. Pinning
 * takes milliseconds: put a {@link PoolMemoryResource} over it.
 */
@PublicEvolving
public final class PinnedHostMemoryResource implements MemoryResource {
  private final Device device;

  /**
   * @param device the device that the memory is pinned for
   */
  public PinnedHostMemoryResource(Device device) {
    this.device = device;
  }

  /** The device that the memory is pinned for. */
  @Override
  public Device device() {
    return device;
  }

  @Override
  public long allocate(long bytes, DeviceStream stream) {
    return bytes == 0 ? 0 : device.allocatePinned(bytes);
  }

  /** Waits on the host for the work enqueued on {@code stream}, then unpins the memory. */
  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    if (bytes > 0) {
      stream.synchronize();
      device.freePinned(address);
    }
  }
}
