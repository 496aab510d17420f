// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;

/**
 * Makes one driver allocation per request, without a pool: slow, but memory checkers need it,
 * because a pool hides overruns. Sizes are rounded up to words of 8 bytes: kernels read texts by
 * aligned words, of which only some bytes may belong to the text ({@code bytes.cuh}), and memory
 * checkers report that as an overrun.
 */
@PublicEvolving
public final class CudaMemoryResource implements MemoryResource {
  private final Device device;

  public CudaMemoryResource(Device device) {
    this.device = device;
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public long allocate(long bytes, DeviceStream stream) {
    return bytes == 0 ? 0 : device.allocate(wholeWords(bytes));
  }

  static long wholeWords(long bytes) {
    return (bytes + Long.BYTES - 1) & -Long.BYTES;
  }

  @Override
  public void free(long address, long bytes, DeviceStream stream) {
    if (bytes > 0) {
      stream.synchronize();
      device.free(address);
    }
  }
}
