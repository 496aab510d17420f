// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
import java.util.List;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The input of the string benchmarks: rows of a text, the row number and a key as int64, and a map
 * that names each row once, in random order.
 */
@State(Scope.Benchmark)
public class StringsInput {
  /** The positions of the columns. */
  public static final int TEXT = 0;

  public static final int NUMBER = 1;
  public static final int KEY = 2;

  private static final Schema SCHEMA =
      Schema.of(
          new Field("text", DataType.STRING, false),
          new Field("number", DataType.INT64, false),
          new Field("key", DataType.INT64, false));
  private static final Schema MAP_SCHEMA = Schema.of(new Field("row", DataType.INT32, false));
  private static final long LETTERS = 0x6161616161616161L;
  private static final long LOW_BITS = 0x0f0f0f0f0f0f0f0fL;

  /** A power of two; {@code rows * stringBytes} is less than 2^31. */
  @Param({"65536", "16777216"})
  public int rows;

  /** The average length of a text; lengths are from half of it to one and a half. */
  @Param({"10", "64"})
  public int stringBytes;

  public DeviceStream stream;
  public MemoryResource memory;
  public Table table;
  public Table texts;
  public Table map;

  /** Makes the tables on the current device. */
  @Setup
  public void create() {
    if ((long) rows * stringBytes > Integer.MAX_VALUE || Integer.bitCount(rows) != 1) {
      throw new IllegalArgumentException(
          rows + " rows of " + stringBytes + " bytes: expected a power of two, and 2 GiB at most");
    }
    Device device = Device.current();
    stream = device.createStream();
    memory = PerDeviceResource.of(device);
    try (DeviceStream hostStream = HostDevice.INSTANCE.createStream();
        Table host = createOnHost(hostStream);
        Table hostMap = createMapOnHost(hostStream)) {
      table = host.copyTo(memory, stream, stream);
      map = hostMap.copyTo(memory, stream, stream);
      stream.synchronize();
    }
    texts = table.select(List.of("text"));
  }

  /** The rows in host memory; the caller closes them. */
  public Table createOnHost(DeviceStream hostStream) {
    Column text = createTexts(hostStream);
    Column number =
        column(DataType.INT64, hostStream, (at, row) -> HostMemory.putLong(at + 8L * row, row));
    Column key =
        column(
            DataType.INT64,
            hostStream,
            (at, row) -> HostMemory.putLong(at + 8L * row, PartitionInput.key(row)));
    return new Table(SCHEMA, List.of(text, number, key), rows);
  }

  /** The map in host memory; the caller closes it. */
  public Table createMapOnHost(DeviceStream hostStream) {
    Column column =
        column(
            DataType.INT32,
            hostStream,
            (at, row) -> HostMemory.putInt(at + 4L * row, permuted(row)));
    return new Table(MAP_SCHEMA, List.of(column), rows);
  }

  // Multiplying by an odd number and xor with a right shift are each a permutation of the numbers
  // below a power of two.
  private int permuted(int row) {
    int mask = rows - 1;
    int shift = (Integer.SIZE - Integer.numberOfLeadingZeros(mask)) / 2;
    int number = row;
    for (int round = 0; round < 3; round++) {
      number = (number * 0x2545f491 + 0x3c6ef372) & mask;
      number ^= number >>> shift;
    }
    return number;
  }

  private int length(int row) {
    return stringBytes / 2
        + (int) Long.remainderUnsigned(PartitionInput.key(row), stringBytes + 1L);
  }

  private Column createTexts(DeviceStream stream) {
    Buffer offsets = allocate((rows + 1L) * Integer.BYTES, stream);
    try (AccessScope scope = AccessScope.on(stream)) {
      long offsetsAddress = offsets.access(AccessMode.WRITE, scope);
      int end = 0;
      HostMemory.putInt(offsetsAddress, 0);
      for (int row = 0; row < rows; row++) {
        end = Math.addExact(end, length(row));
        HostMemory.putInt(offsetsAddress + (row + 1L) * Integer.BYTES, end);
      }
      Buffer data = allocate(end, stream);
      long address = data.access(AccessMode.WRITE, scope);
      IntStream.range(0, rows)
          .parallel()
          .forEach(
              row ->
                  writeText(
                      address + HostMemory.getInt(offsetsAddress + (long) row * Integer.BYTES),
                      row));
      Column child = new Column(DataType.INT32, rows + 1, 0, offsets, null, List.of());
      return new Column(DataType.STRING, rows, 0, data, null, List.of(child));
    }
  }

  private void writeText(long address, int row) {
    int length = length(row);
    for (int i = 0; i < length; i++) {
      long letters = (PartitionInput.key(row + ((long) (i / 8 + 1) << 32)) & LOW_BITS) + LETTERS;
      HostMemory.putByte(address + i, (byte) (letters >>> (i % 8 * 8)));
    }
  }

  private Column column(DataType type, DeviceStream stream, ElementWriter writer) {
    Buffer data = allocate((long) rows * type.id().byteWidth(), stream);
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = data.access(AccessMode.WRITE, scope);
      IntStream.range(0, rows).parallel().forEach(row -> writer.write(address, row));
    }
    return new Column(type, rows, 0, data, null, List.of());
  }

  private static Buffer allocate(long bytes, DeviceStream stream) {
    return Buffer.allocate(bytes, stream, HostMemoryResource.INSTANCE);
  }

  private interface ElementWriter {
    void write(long address, int row);
  }

  /** Frees the tables. */
  @TearDown
  public void close() {
    texts.close();
    map.close();
    table.close();
    stream.close();
  }
}
