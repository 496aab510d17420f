// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.MemoryResource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Host memory pinned for one device, from its staging pool: the host reads and writes it, and the
 * device copies it at full speed. Ordered by host streams.
 */
@PublicEvolving
public final class StagingMemoryResource implements MemoryResource {
  private final Device pinnedFor;
  private final Map<Long, StagingBuffer> buffers = new ConcurrentHashMap<>();

  public StagingMemoryResource(Device pinnedFor) {
    this.pinnedFor = pinnedFor;
  }

  @Override
  public Device device() {
    return HostDevice.INSTANCE;
  }

  @Override
  public long allocate(long bytes, DeviceStream stream) {
    if (bytes == 0) {
      return 0;
    }
    StagingBuffer buffer = pinnedFor.stagingPool().acquire(bytes);
    buffers.put(buffer.address(), buffer);
    return buffer.address();
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException if nothing is held at {@code address}
   */
  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    if (bytes > 0) {
      StagingBuffer buffer = buffers.remove(address);
      if (buffer == null) {
        throw new IllegalStateException(
            "freeing " + bytes + " bytes at an address that holds none");
      }
      buffer.close();
    }
  }
}
