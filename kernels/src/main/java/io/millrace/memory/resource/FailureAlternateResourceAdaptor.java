// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.MemoryResource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Allocates from another resource what the upstream has no memory for: from slower memory of the
 * same device, that is, so that work goes on.
 */
@PublicEvolving
public final class FailureAlternateResourceAdaptor implements MemoryResource {
  private final MemoryResource upstream;
  private final MemoryResource alternate;
  private final Set<Long> alternateAddresses = ConcurrentHashMap.newKeySet();

  /**
   * @throws IllegalArgumentException if the two are not of one device
   */
  public FailureAlternateResourceAdaptor(MemoryResource upstream, MemoryResource alternate) {
    if (upstream.device() != alternate.device()) {
      throw new IllegalArgumentException(
          "memory of "
              + alternate.device().description()
              + " instead of memory of "
              + upstream.device().description());
    }
    this.upstream = upstream;
    this.alternate = alternate;
  }

  @Override
  public Device device() {
    return upstream.device();
  }

  /**
   * {@inheritDoc}
   *
   * @throws GpuOutOfMemoryException if neither has such memory left
   */
  @Override
  public long allocate(long bytes, DeviceStream stream) {
    try {
      return upstream.allocate(bytes, stream);
    } catch (GpuOutOfMemoryException e) {
      long address = alternate.allocate(bytes, stream);
      alternateAddresses.add(address);
      return address;
    }
  }

  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    if (alternateAddresses.remove(address)) {
      alternate.free(address, bytes, stream);
    } else {
      upstream.free(address, bytes, stream);
    }
  }
}
