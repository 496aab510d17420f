// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.List;

/** Builds columns whose elements have a fixed width. */
@PublicEvolving
public final class FixedWidthColumnBuilder extends ColumnBuilder {
  private final int width;
  private final GrowingBuffer data;
  private long address;

  FixedWidthColumnBuilder(DataType type, DeviceStream stream, MemoryResource resource) {
    super(type, stream, resource);
    this.width = type.id().byteWidth();
    this.data = new GrowingBuffer(stream, resource);
  }

  public void appendBoolean(boolean value) {
    appendByte((byte) (value ? 1 : 0));
  }

  public void appendByte(byte value) {
    int row = next();
    HostMemory.putByte(address + row, value);
  }

  public void appendShort(short value) {
    long row = next();
    HostMemory.putShort(address + row * Short.BYTES, value);
  }

  public void appendInt(int value) {
    long row = next();
    HostMemory.putInt(address + row * Integer.BYTES, value);
  }

  public void appendLong(long value) {
    long row = next();
    HostMemory.putLong(address + row * Long.BYTES, value);
  }

  public void appendFloat(float value) {
    appendInt(Float.floatToRawIntBits(value));
  }

  public void appendDouble(double value) {
    appendLong(Double.doubleToRawLongBits(value));
  }

  public void appendDecimal128(long low, long high) {
    long row = next();
    HostMemory.putLong(address + row * width, low);
    HostMemory.putLong(address + row * width + Long.BYTES, high);
  }

  @Override
  void appendEmpty() {
    long row = next();
    HostMemory.fill(address + row * width, width, (byte) 0);
  }

  @Override
  void grow(int newCapacity) {
    data.ensure((long) newCapacity * width);
    address = data.address();
  }

  @Override
  void truncateValues(int elements) {}

  @Override
  void reserveValues() {
    data.ensure(Math.max(1, (long) size * width));
    address = data.address();
  }

  @Override
  public long sizeInBytes() {
    return (long) size * width;
  }

  @Override
  Column finish(int elements, Buffer mask) {
    Buffer finished = data.finish((long) elements * width);
    return new Column(type, elements, 0, finished, mask, List.of());
  }

  @Override
  public void close() {
    super.close();
    data.close();
  }
}
