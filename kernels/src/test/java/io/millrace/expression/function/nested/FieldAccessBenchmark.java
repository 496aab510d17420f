// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.nested;

import static io.millrace.expression.Expressions.col;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
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
 * A filter and projections of bids, which 46 of 50 rows have: as columns, as nullable columns, and
 * as fields of a nullable ROW.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class FieldAccessBenchmark {
  private static final int EVENTS = 50;
  private static final int OTHER_EVENTS = 4;
  private static final List<String> NAMES = List.of("auction", "bidder", "price", "url");

  @Param({"65536", "1048576"})
  public int rows;

  @Param({"columns", "nullable columns", "fields"})
  public String layout;

  private DeviceStream stream;
  private MemoryResource memory;
  private Table table;
  private Calc calc;

  /** Makes the table on the current device and compiles the calc. */
  @Setup
  public void create() {
    Device device = Device.current();
    stream = device.createStream();
    memory = PerDeviceResource.of(device);
    try (DeviceStream hostStream = HostDevice.INSTANCE.createStream();
        Table host = builder().buildOnHost(hostStream, HostMemoryResource.INSTANCE)) {
      table = host.copyTo(memory, stream, stream);
      stream.synchronize();
    }
    calc =
        Calc.of(
            table.schema(),
            Optional.of(column("auction").mod(2).isEqual(0)),
            List.of(
                column("auction"),
                column("bidder"),
                column("price").times(2L).as("twice"),
                column("url")),
            ResolutionContext.DEFAULT);
    filterAndProject();
  }

  private Expression column(String name) {
    return layout.equals("fields") ? col("bid").field(name) : col(name);
  }

  private TableBuilder builder() {
    boolean isNullable = layout.equals("nullable columns");
    Schema bid =
        new Schema(
            NAMES.stream()
                .map(
                    name ->
                        new Field(
                            name,
                            name.equals("url") ? DataType.STRING : DataType.INT64,
                            isNullable))
                .toList());
    List<List<Object>> events = new ArrayList<>();
    for (long row = 0; row < rows; row++) {
      boolean isBid = row % EVENTS >= OTHER_EVENTS;
      List<Object> values = List.of(row * 31 % 1000, row, row % 977, "https://auction/" + row);
      events.add(isBid || !(isNullable || layout.equals("fields")) ? values : null);
    }
    if (layout.equals("fields")) {
      return new TableBuilder()
          .column("bid", DataType.struct(bid.fields().toArray(Field[]::new)), events.toArray());
    }
    List<Object> none = Arrays.asList(new Object[NAMES.size()]);
    return TableBuilder.ofRows(
        bid, events.stream().map(values -> values == null ? none : values).toList());
  }

  /** Filters and projects, waits for the device, and frees the output. */
  @Benchmark
  public int filterAndProject() {
    try (Table output = calc.apply(table, stream, memory)) {
      stream.synchronize();
      return output.rowCount();
    }
  }

  /** Frees the table. */
  @TearDown
  public void close() {
    table.close();
    calc.close();
    stream.close();
  }
}
