// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.MemoryResource;
import java.util.concurrent.atomic.AtomicLong;

/** Refuses to hold more than a number of bytes at once. */
@PublicEvolving
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
    reserve(bytes);
    try {
      return upstream.allocate(bytes, stream);
    } catch (RuntimeException | Error e) {
      heldBytes.addAndGet(-bytes);
      throw e;
    }
  }

  // Not added first and checked then: a request that is refused must not make others fail.
  private void reserve(long bytes) {
    long held;
    do {
      held = heldBytes.get();
      if (bytes > limitBytes - held) {
        throw new GpuOutOfMemoryException(
            bytes
                + " bytes more would pass the limit of "
                + limitBytes
                + " bytes; "
                + held
                + " are held");
      }
    } while (!heldBytes.compareAndSet(held, held + bytes));
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
