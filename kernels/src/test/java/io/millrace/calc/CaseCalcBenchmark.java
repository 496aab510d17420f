// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.col;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
import io.millrace.testing.TableBuilder;
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

/** UPPER of strings of about 30 bytes, some of which contain a non-ASCII letter. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class CaseCalcBenchmark {
  @Param({"65536", "1048576"})
  public int rows;

  /** The share of strings with the letter. */
  @Param({"none", "one", "hundredth", "all"})
  public String share;

  /** U+00E9 is mapped on the device; U+10428 is left to the host. */
  @Param({"e9", "10428"})
  public String letter;

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
    Object[] texts = StringInput.texts(rows);
    String character = Character.toString(Integer.parseInt(letter, 16));
    for (int row = 0; row < rows; row++) {
      texts[row] = texts[row] + (hasLetter(row) ? character : "");
    }
    try (DeviceStream hostStream = HostDevice.INSTANCE.createStream();
        Table host =
            new TableBuilder()
                .column("url", DataType.STRING, texts)
                .buildOnHost(hostStream, HostMemoryResource.INSTANCE)) {
      table = host.copyTo(memory, stream, stream);
      stream.synchronize();
    }
    calc =
        Calc.of(
            table.schema(),
            Optional.empty(),
            List.of(col("url").upperCase().as("upper")),
            ResolutionContext.DEFAULT);
    upper();
  }

  private boolean hasLetter(int row) {
    return switch (share) {
      case "none" -> false;
      case "one" -> row == rows / 2;
      case "hundredth" -> row % 100 == 0;
      default -> true;
    };
  }

  /** Projects, waits for the device, and frees the output. */
  @Benchmark
  public int upper() {
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
