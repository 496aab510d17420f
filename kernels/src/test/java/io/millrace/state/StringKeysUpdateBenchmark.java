// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

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
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongUnaryOperator;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * {@link StateUpdateBenchmark} with strings as keys, whose strings come out too: of up to 12 bytes
 * they lie in the row.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class StringKeysUpdateBenchmark {
  private static final Schema SCHEMA =
      Schema.of(
          new Field("key", DataType.STRING, false), new Field("value", DataType.INT64, false));
  private static final int BATCHES = 8;
  private static final int FILL_ROWS = 1 << 20;

  @Param({"65536", "1048576"})
  public int rows;

  @Param({"1000", "1000000"})
  public long keys;

  /** Bytes of a string, at least 8. */
  @Param({"12", "32"})
  public int bytes;

  private DeviceStream stream;
  private StateTable table;
  private final List<Table> batches = new ArrayList<>();
  private int next;

  /** Fills the state and makes batches. */
  @Setup
  public void create() {
    Device device = Device.current();
    MemoryResource memory = PerDeviceResource.of(device);
    stream = device.createStream();
    StateSchema schema =
        new StateSchema(
            SCHEMA,
            List.of(0),
            List.of(
                new Accumulator("sum", Function.SUM, 1),
                Accumulator.countRows("count"),
                new Accumulator("max", Function.MAX, 1)),
            StateSchema.NO_KINDS);
    table = new StateTable(schema, stream, memory);
    for (long first = 0; first < keys; first += FILL_ROWS) {
      long start = first;
      int count = (int) Math.min(FILL_ROWS, keys - first);
      try (Table batch = batch(count, row -> StateInputRows.key(start + row), memory)) {
        table.update(batch).close();
      }
    }
    for (int batch = 0; batch < BATCHES; batch++) {
      long number = batch;
      batches.add(batch(rows, row -> StateInputRows.uniform(number, row, keys), memory));
    }
  }

  private Table batch(int count, LongUnaryOperator keyOfRow, MemoryResource memory) {
    try (DeviceStream hostStream = HostDevice.INSTANCE.createStream();
        Table numbers = StateInputRows.batch(count, row -> row, stream, memory);
        Table host =
            new Table(
                Schema.of(SCHEMA.field(0)), List.of(strings(count, keyOfRow, hostStream)), count);
        Table strings = host.copyTo(memory, stream, stream)) {
      stream.synchronize();
      List<Column> columns = List.of(strings.column(0).share(), numbers.column(1).share());
      return new Table(SCHEMA, columns, count);
    }
  }

  // The key comes last, behind letters that all strings have.
  private Column strings(int count, LongUnaryOperator keyOfRow, DeviceStream hostStream) {
    Buffer data = Buffer.allocate((long) count * bytes, hostStream, HostMemoryResource.INSTANCE);
    Buffer offsets =
        Buffer.allocate((count + 1L) * Integer.BYTES, hostStream, HostMemoryResource.INSTANCE);
    try (AccessScope scope = AccessScope.on(hostStream)) {
      long address = data.access(AccessMode.WRITE, scope);
      long offset = offsets.access(AccessMode.WRITE, scope);
      HostMemory.fill(address, data.size(), (byte) 'x');
      for (int row = 0; row < count; row++) {
        long end = (row + 1L) * bytes;
        HostMemory.putLong(address + end - Long.BYTES, keyOfRow.applyAsLong(row));
        HostMemory.putInt(offset + (long) row * Integer.BYTES, row * bytes);
      }
      HostMemory.putInt(offset + (long) count * Integer.BYTES, count * bytes);
    }
    Column offsetColumn = new Column(DataType.INT32, count + 1, 0, offsets, null, List.of());
    return new Column(DataType.STRING, count, 0, data, null, List.of(offsetColumn));
  }

  /** Updates, waits, and frees the result. */
  @Benchmark
  public int stringKeysUpdate() {
    try (Table changes = table.update(batches.get(next++ % BATCHES))) {
      return changes.rowCount();
    }
  }

  /** Frees the memory. */
  @TearDown
  public void close() {
    batches.forEach(Table::close);
    batches.clear();
    table.close();
    stream.close();
  }
}
