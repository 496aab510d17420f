// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.Objects;

/** Builds STRING and BINARY columns. */
@PublicEvolving
public final class VariableWidthColumnBuilder extends ColumnBuilder {
  private final GrowingBuffer offsets;
  private final GrowingBuffer data;
  private int bytes;

  VariableWidthColumnBuilder(DataType type, DeviceStream stream, MemoryResource resource) {
    super(type, stream, resource);
    this.offsets = new GrowingBuffer(stream, resource);
    this.data = new GrowingBuffer(stream, resource);
  }

  /**
   * Appends a copy of {@code length} bytes of {@code source}.
   *
   * @throws IndexOutOfBoundsException if they are not within {@code source}
   * @throws ArithmeticException if the column would have more than 2^31 - 1 bytes
   */
  public void appendBytes(byte[] source, int start, int length) {
    Objects.checkFromIndexSize(start, length, source.length);
    HostMemory.copyFromArray(appendUninitialized(length), source, start, length);
  }

  public void appendBytes(byte[] source) {
    appendBytes(source, 0, source.length);
  }

  /**
   * Appends an element of {@code length} bytes that the caller fills in before the next call.
   *
   * @return the address of its first byte
   * @throws IllegalArgumentException if {@code length} is negative
   * @throws ArithmeticException if the column would have more than 2^31 - 1 bytes
   */
  public long appendUninitialized(int length) {
    if (length < 0) {
      throw new IllegalArgumentException("length is negative: " + length);
    }
    int start = bytes;
    int end = Math.addExact(start, length);
    data.ensure(end);
    long row = next();
    HostMemory.putInt(offsets.address() + (row + 1) * Integer.BYTES, end);
    bytes = end;
    return data.address() + start;
  }

  @Override
  void appendEmpty() {
    appendUninitialized(0);
  }

  @Override
  void grow(int newCapacity) {
    boolean first = offsets.capacity() == 0;
    offsets.ensure((newCapacity + 1L) * Integer.BYTES);
    if (first) {
      HostMemory.putInt(offsets.address(), 0);
    }
  }

  @Override
  void truncateValues(int elements) {
    if (elements < size) {
      bytes = HostMemory.getInt(offsets.address() + (long) elements * Integer.BYTES);
    }
  }

  @Override
  void reserveValues() {
    if (offsets.capacity() == 0) {
      grow(1);
    }
    data.ensure(Math.max(1, bytes));
  }

  @Override
  public long sizeInBytes() {
    return bytes + (size + 1L) * Integer.BYTES;
  }

  @Override
  Column finish(int elements, Buffer mask) {
    Buffer finishedOffsets = offsets.finish((elements + 1L) * Integer.BYTES);
    Buffer finishedData = data.finish(bytes);
    bytes = 0;
    return new Column(type, elements, 0, finishedData, mask, offsets(finishedOffsets, elements));
  }

  @Override
  public void close() {
    super.close();
    offsets.close();
    data.close();
    bytes = 0;
  }
}
