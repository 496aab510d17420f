// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.lookup;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
import java.util.List;
import java.util.SplittableRandom;
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
 * Looks up a batch of BIGINT keys, of which half are in the table, and gathers two columns of the
 * rows that are found. Allocation of the results included; waits for the work.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 2, time = 1, timeUnit = TimeUnit.SECONDS)
@Fork(0)
public class LookupBenchmark {
  private static final Schema KEY = Schema.of(new Field("key", DataType.INT64, false));
  private static final Schema ROWS =
      Schema.of(
          new Field("key", DataType.INT64, false),
          new Field("a", DataType.INT64, false),
          new Field("b", DataType.INT64, false));

  @Param({"65536"})
  public int keys;

  @Param({"1048576"})
  public int rows;

  private final MemoryResource memory = PerDeviceResource.of(Device.current());
  private DeviceStream stream;
  private DeviceStream hostStream;
  private LookupTable table;
  private LookupReader reader;
  private Table batch;

  /** Builds the table. */
  @Setup
  public void create() {
    stream = Device.current().createStream();
    hostStream = HostDevice.INSTANCE.createStream();
    reader = new LookupReader(stream, memory);
    try (LookupTableBuilder builder = new LookupTableBuilder(ROWS, List.of("key"), stream, memory);
        Table part = table(ROWS, rows, row -> 2 * row)) {
      builder.add(part);
      table = builder.build();
    }
    SplittableRandom random = new SplittableRandom(1);
    batch = table(KEY, keys, row -> random.nextLong(2L * rows));
  }

  // All columns have the same values.
  private Table table(Schema schema, int count, LongUnaryOperator value) {
    try (RowTableBuilder builder =
        new RowTableBuilder(schema, hostStream, HostMemoryResource.INSTANCE)) {
      for (int row = 0; row < count; row++) {
        long number = value.applyAsLong(row);
        for (int column = 0; column < schema.size(); column++) {
          ((FixedWidthColumnBuilder) builder.column(column)).appendLong(number);
        }
      }
      try (Table host = builder.finish(count)) {
        Table copy = host.copyTo(memory, stream, stream);
        stream.synchronize();
        return copy;
      }
    }
  }

  /** Looks up and gathers. */
  @Benchmark
  public int lookup() {
    try (Column found = reader.rows(table, batch);
        Table values = table.values(found, stream, memory)) {
      stream.synchronize();
      return values.rowCount();
    }
  }

  /** Frees the memory. */
  @TearDown
  public void close() {
    batch.close();
    table.close();
    reader.close();
    stream.close();
    hostStream.close();
  }
}
