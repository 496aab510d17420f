// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.host;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/** Appends vector values of a scalar type to a new column in host memory. */
final class HostColumnWriter implements VectorWriter {
  private static final int MAX_BUFFERS = 3;

  private final DataType type;
  private final TypeId id;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final AccessScope scope;
  private final List<Buffer> buffers = new ArrayList<>(MAX_BUFFERS);
  private final long data;
  private final long secondData;
  private final boolean nullable;
  private final long validity;
  private final boolean computed;
  private Buffer bytes;
  private long bytesAddress;
  private int byteCount;
  private int rows;
  private int nulls;

  /**
   * @param capacity maximum number of rows
   * @param computed true to replace every NaN by the canonical NaN; values of an input column keep
   *     theirs
   */
  HostColumnWriter(
      DataType type,
      boolean nullable,
      boolean computed,
      int capacity,
      AccessScope scope,
      MemoryResource memory) {
    this.type = type;
    this.id = type.id();
    this.stream = scope.stream();
    this.memory = memory;
    this.scope = scope;
    this.computed = computed;
    this.nullable = nullable;
    long elements = capacity;
    try {
      if (id.isVariableWidth()) {
        data = allocate((elements + 1) * Integer.BYTES);
        HostMemory.putInt(data, 0);
        secondData = 0;
      } else if (id == TypeId.TIMESTAMP_NANOS) {
        data = allocate(elements * Long.BYTES);
        secondData = allocate(elements * Integer.BYTES);
      } else {
        data = allocate(elements * id.byteWidth());
        secondData = 0;
      }
      validity = nullable ? allocate(Column.maskBytes(elements)) : 0;
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private long allocate(long size) {
    Buffer buffer = Buffer.allocate(size, stream, memory);
    buffers.add(buffer);
    return buffer.access(AccessMode.WRITE, scope);
  }

  @Override
  public void append(HostVector values, Rows selected) {
    if (nullable) {
      appendValidity(values, selected);
    }
    switch (id) {
      case INT64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS, DECIMAL64 -> appendLongs(values, selected);
      case FLOAT64 -> appendDoubles(values, selected);
      case STRING, BINARY -> appendBytes(values, selected);
      default -> {
        for (int i = 0; i < selected.count(); i++) {
          write(values, selected.position(i), (long) rows + i);
        }
      }
    }
    rows += selected.count();
  }

  private void appendValidity(HostVector values, Rows selected) {
    if (!values.hasNulls()) {
      HostMemory.setBits(validity, rows, selected.count());
      return;
    }
    for (int i = 0; i < selected.count(); i++) {
      boolean isNull = values.isNull(selected.position(i));
      HostMemory.putBit(validity, (long) rows + i, !isNull);
      nulls += isNull ? 1 : 0;
    }
  }

  private void appendLongs(HostVector values, Rows selected) {
    long[] longs = values.longs();
    long output = data + (long) rows * Long.BYTES;
    if (selected.isDense()) {
      HostMemory.copyFromArray(output, longs, selected.count());
      return;
    }
    for (int i = 0; i < selected.count(); i++) {
      HostMemory.putLong(output + (long) i * Long.BYTES, longs[selected.position(i)]);
    }
  }

  private void appendDoubles(HostVector values, Rows selected) {
    double[] doubles = values.doubles();
    long output = data + (long) rows * Double.BYTES;
    if (selected.isDense() && !(computed && hasNan(doubles, selected.count()))) {
      HostMemory.copyFromArray(output, doubles, selected.count());
      return;
    }
    for (int i = 0; i < selected.count(); i++) {
      double value = doubles[selected.position(i)];
      long bits = computed ? Double.doubleToLongBits(value) : Double.doubleToRawLongBits(value);
      HostMemory.putLong(output + (long) i * Long.BYTES, bits);
    }
  }

  private static boolean hasNan(double[] values, int count) {
    boolean found = false;
    for (int i = 0; i < count; i++) {
      found |= Double.isNaN(values[i]);
    }
    return found;
  }

  private void appendBytes(HostVector values, Rows selected) {
    reserve(bytesOf(values, selected));
    long offsets = data + (rows + 1L) * Integer.BYTES;
    for (int i = 0; i < selected.count(); i++) {
      int row = selected.position(i);
      if (!values.isNull(row)) {
        int length = values.length(row);
        HostMemory.copy(bytesAddress + byteCount, values.address(row), length);
        byteCount += length;
      }
      HostMemory.putInt(offsets + (long) i * Integer.BYTES, byteCount);
    }
  }

  private static long bytesOf(HostVector values, Rows selected) {
    long sum = 0;
    for (int i = 0; i < selected.count(); i++) {
      int row = selected.position(i);
      sum += values.isNull(row) ? 0 : values.length(row);
    }
    return sum;
  }

  private void reserve(long more) {
    long needed = byteCount + more;
    if (needed > Integer.MAX_VALUE) {
      throw new GpuOutOfMemoryException(
          "expected at most 2 GiB of bytes in a column, got " + needed + " or more");
    }
    long capacity = bytes == null ? 0 : bytes.size();
    if (bytes == null || needed > capacity) {
      long grown = Math.max(needed, Math.min(Integer.MAX_VALUE, Math.max(4096, capacity * 2)));
      Buffer smaller = bytes;
      long smallerAddress = bytesAddress;
      bytes = Buffer.allocate(grown, stream, memory);
      try (smaller) {
        bytesAddress = bytes.access(AccessMode.WRITE, scope);
        HostMemory.copy(bytesAddress, smallerAddress, byteCount);
      }
    }
  }

  private void write(HostVector values, int row, long element) {
    switch (id) {
      case BOOL, INT8 -> HostMemory.putByte(data + element, (byte) values.longs()[row]);
      case INT16 -> HostMemory.putShort(data + element * Short.BYTES, (short) values.longs()[row]);
      case INT32, DATE, TIME, DECIMAL32 ->
          HostMemory.putInt(data + element * Integer.BYTES, (int) values.longs()[row]);
      case FLOAT32 -> writeFloat(data + element * Float.BYTES, (float) values.doubles()[row]);
      case DECIMAL128 -> {
        HostMemory.putLong(data + element * 2 * Long.BYTES, values.longs()[row]);
        HostMemory.putLong(data + element * 2 * Long.BYTES + Long.BYTES, values.secondParts()[row]);
      }
      case TIMESTAMP_NANOS -> {
        HostMemory.putLong(data + element * Long.BYTES, values.longs()[row]);
        HostMemory.putInt(secondData + element * Integer.BYTES, (int) values.secondParts()[row]);
      }
      default -> throw new IllegalStateException("no expression gives " + id);
    }
  }

  private void writeFloat(long address, float value) {
    int bits = computed ? Float.floatToIntBits(value) : Float.floatToRawIntBits(value);
    HostMemory.putInt(address, bits);
  }

  @Override
  public Column finish() {
    if (id.isVariableWidth() && bytes == null) {
      reserve(0);
    }
    Buffer mask = nullable ? buffers.remove(buffers.size() - 1) : null;
    Column column;
    if (id.isVariableWidth()) {
      Column offsets = new Column(DataType.INT32, rows + 1, 0, buffers.get(0), null, List.of());
      column = new Column(type, rows, 0, bytes, mask, List.of(offsets));
      bytes = null;
    } else if (id == TypeId.TIMESTAMP_NANOS) {
      Column millis = new Column(DataType.INT64, rows, 0, buffers.get(0), null, List.of());
      Column nanos = new Column(DataType.INT32, rows, 0, buffers.get(1), null, List.of());
      column = new Column(type, rows, 0, null, mask, List.of(millis, nanos));
    } else {
      column = new Column(type, rows, 0, buffers.get(0), mask, List.of());
    }
    buffers.clear();
    return column.withNullCount(nulls);
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    buffers.forEach(buffer -> failure.run(buffer::close));
    buffers.clear();
    if (bytes != null) {
      failure.run(bytes::close);
      bytes = null;
    }
    failure.rethrow();
  }
}
