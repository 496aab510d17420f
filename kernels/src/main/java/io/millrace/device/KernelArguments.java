// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;

/**
 * The structure that a kernel takes by value as its only parameter, in native memory, filled in
 * field by field. Freed by {@link #close}; reusable for any number of launches before that.
 */
@PublicEvolving
public final class KernelArguments implements AutoCloseable {
  // The driver takes an array of parameter pointers: its only element comes first.
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

  /** Allocates a zeroed {@code structure}. */
  public KernelArguments(KernelStructure structure) {
    this(structure.bytes());
  }

  public KernelArguments put(KernelStructure.Int32 field, int value) {
    return putInt(field.offset(), value);
  }

  public KernelArguments put(KernelStructure.Int64 field, long value) {
    return putLong(field.offset(), value);
  }

  /** Writes a field of the structure nested at {@code base}. */
  public KernelArguments put(int base, KernelStructure.Int32 field, int value) {
    return putInt(base + field.offset(), value);
  }

  /** Writes a field of the structure nested at {@code base}. */
  public KernelArguments put(int base, KernelStructure.Int64 field, long value) {
    return putLong(base + field.offset(), value);
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
