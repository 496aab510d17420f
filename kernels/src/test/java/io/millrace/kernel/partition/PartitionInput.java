// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import static io.millrace.column.DataType.FLOAT64;
import static io.millrace.column.DataType.INT32;
import static io.millrace.column.DataType.INT64;

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
import java.util.stream.LongStream;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The input of the partition benchmarks: rows of 28 bytes with an int64 key, the row number as
 * int64, half of it as float64, and its low bits as int32. Keys are distinct.
 */
@State(Scope.Benchmark)
public class PartitionInput {
  /** The position of the key among the columns. */
  public static final int KEY = 0;

  private static final Schema SCHEMA =
      Schema.of(
          Field.of("key", INT64),
          Field.of("number", INT64),
          Field.of("half", FLOAT64),
          Field.of("low", INT32));
  private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

  @Param({"16384", "65536", "262144", "1048576", "4194304", "67108864"})
  public int rows;

  public DeviceStream stream;
  public MemoryResource memory;
  public Table table;

  /** The key of a row: the mix of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
  public static long key(long row) {
    long mixed = (row + 1) * GOLDEN_GAMMA;
    mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }

  /** Makes the table on the current device. */
  @Setup
  public void create() {
    Device device = Device.current();
    create(PerDeviceResource.of(device), device.createStream());
  }

  /** Makes the table in memory of {@code resource}, where output goes as well, for one stream. */
  public void create(MemoryResource resource, DeviceStream used) {
    memory = resource;
    stream = used;
    try (DeviceStream hostStream = HostDevice.INSTANCE.createStream();
        Table host = createOnHost(rows, hostStream)) {
      table = host.copyTo(memory, stream, stream);
      stream.synchronize();
    }
  }

  private static Table createOnHost(int rows, DeviceStream stream) {
    Column key =
        column(INT64, rows, stream, (at, row) -> HostMemory.putLong(at + row * 8, key(row)));
    Column number = column(INT64, rows, stream, (at, row) -> HostMemory.putLong(at + row * 8, row));
    Column half =
        column(FLOAT64, rows, stream, (at, row) -> HostMemory.putDouble(at + row * 8, row * 0.5));
    Column low =
        column(INT32, rows, stream, (at, row) -> HostMemory.putInt(at + row * 4, (int) row));
    return new Table(SCHEMA, List.of(key, number, half, low), rows);
  }

  private static Column column(DataType type, int rows, DeviceStream stream, ElementWriter writer) {
    Buffer data =
        Buffer.allocate((long) rows * type.id().byteWidth(), stream, HostMemoryResource.INSTANCE);
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = data.access(AccessMode.WRITE, scope);
      LongStream.range(0, rows).parallel().forEach(row -> writer.write(address, row));
    }
    return new Column(type, rows, 0, data, null, List.of());
  }

  private interface ElementWriter {
    void write(long address, long row);
  }

  /** Frees the table. */
  @TearDown
  public void close() {
    table.close();
    stream.close();
  }
}
