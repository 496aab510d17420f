// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.Internal;

/**
 * The one structure that a kernel takes by value, in native memory, filled in field by field at
 * byte offsets. Freed by {@link #close}; reusable for any number of launches before that.
 */
@Internal
public final class KernelArguments implements AutoCloseable {
  // Memory: the array of one parameter pointer that the driver wants, then the structure.
  private static final int STRUCTURE_OFFSET = 16;

  private final int bytes;
  private long address;

  /** Allocates a zeroed structure of {@code bytes} bytes. */
  public KernelArguments(int bytes) {
    this.bytes = bytes;
    this.address = HostMemory.allocate(STRUCTURE_OFFSET + bytes);
    HostMemory.fill(address, STRUCTURE_OFFSET + bytes, (byte) 0);
    HostMemory.putLong(address, address + STRUCTURE_OFFSET);
  }

  public KernelArguments putInt(int offset, int value) {
    HostMemory.putInt(at(offset, Integer.BYTES), value);
    return this;
  }

  public KernelArguments putLong(int offset, long value) {
    HostMemory.putLong(at(offset, Long.BYTES), value);
    return this;
  }

  long parametersAddress() {
    return address;
  }

  private long at(int offset, int width) {
    if (offset < 0 || offset + width > bytes || address == 0) {
      throw new IndexOutOfBoundsException("offset " + offset + " of " + bytes + " bytes");
    }
    return address + STRUCTURE_OFFSET + offset;
  }

  @Override
  public void close() {
    if (address != 0) {
      HostMemory.free(address);
      address = 0;
    }
  }
}
