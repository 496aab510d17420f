// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.device.Device;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.MemoryResource;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Overwrites freed memory, so that code that still reads it gets wrong values. Host memory is
 * returned late and is checked then: the test fails if the memory was written to after it was
 * freed.
 */
final class PoisoningResourceAdaptor implements MemoryResource, AutoCloseable {
  /** The byte that freed memory is filled with. */
  static final byte POISON = (byte) 0xdd;

  private static final long LATE_BYTES = 32L << 20;

  private final MemoryResource upstream;
  private final Queue<Block> late = new ArrayDeque<>();
  private long lateBytes;

  private record Block(long address, long bytes, DeviceStream stream) {}

  PoisoningResourceAdaptor(MemoryResource upstream) {
    this.upstream = upstream;
  }

  @Override
  public Device device() {
    return upstream.device();
  }

  @Override
  public long allocate(long bytes, DeviceStream stream) {
    return upstream.allocate(bytes, stream);
  }

  @Override
  public synchronized void free(long address, long bytes, DeviceStream stream) {
    if (bytes > 0) {
      stream.fill(address, POISON, bytes);
    }
    late.add(new Block(address, bytes, stream));
    lateBytes += bytes;
    giveBack(device().kind() == DeviceKind.HOST ? LATE_BYTES : 0);
  }

  private void giveBack(long keptBytes) {
    while (!late.isEmpty() && lateBytes >= keptBytes) {
      Block block = late.remove();
      lateBytes -= block.bytes;
      boolean intact = device().kind() != DeviceKind.HOST || isPoison(block);
      upstream.free(block.address, block.bytes, block.stream);
      if (!intact) {
        throw new IllegalStateException(block.bytes + " bytes were written to after being freed");
      }
    }
  }

  private static boolean isPoison(Block block) {
    for (long i = 0; i < block.bytes; i++) {
      if (HostMemory.getByte(block.address + i) != POISON) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns all freed memory.
   *
   * @throws IllegalStateException if memory was written to after it was freed
   */
  @Override
  public synchronized void close() {
    giveBack(0);
  }
}
