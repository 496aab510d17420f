// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.Arrays;

/**
 * The addresses of chunks in the memory of the device, copied there when one has changed. Used by
 * one thread.
 */
@Internal
public final class ChunkTable implements AutoCloseable {
  private final DeviceStream stream;
  private final MemoryResource memory;
  // The addresses, and what was written there last; null until the first access.
  private Buffer table;
  private long[] written = {};

  public ChunkTable(DeviceStream stream, MemoryResource memory) {
    this.stream = stream;
    this.memory = memory;
  }

  /**
   * The address of the table.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  public long access(long[] addresses, AccessScope scope) {
    long bytes = (long) addresses.length * Long.BYTES;
    if (table == null || table.size() < bytes) {
      Buffer larger = Buffer.allocate(Math.max(2 * bytes, Long.BYTES), stream, memory);
      if (table != null) {
        table.close();
      }
      table = larger;
      written = new long[0];
    }
    if (Arrays.equals(addresses, written)) {
      return table.access(AccessMode.READ, scope);
    }
    long target = table.access(AccessMode.WRITE, scope);
    StagingBuffer staging = stream.device().stagingPool().acquire(bytes);
    HostMemory.copyFromArray(staging.address(), addresses, addresses.length);
    stream.copy(target, staging.address(), bytes);
    try (DeviceEvent copied = stream.recordEvent()) {
      staging.closeAfter(copied);
    }
    written = addresses;
    return target;
  }

  /** Gives the memory back; the next access allocates it again. */
  @Override
  public void close() {
    if (table != null) {
      table.close();
      table = null;
    }
  }
}
