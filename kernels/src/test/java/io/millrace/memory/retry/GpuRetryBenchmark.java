// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.retry;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.Buffer;
import io.millrace.memory.resource.PerDeviceResource;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.memory.spill.MemoryBudget;
import io.millrace.memory.spill.SpillLimits;
import io.millrace.memory.spill.SpillManager;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.memory.spill.SpillStatistics;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/** Measures the overhead of a retry if nothing fails and no other thread works on the device. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class GpuRetryBenchmark {

  /** A quota of the current device and a table of it. */
  @State(Scope.Benchmark)
  public static class OpenShare {
    private static final int ROWS = 64;

    SpillManager manager;
    SpillQuota quota;
    DeviceStream stream;
    GpuRetry retry;
    Table table;

    @Setup
    public void open() {
      Device device = Device.current();
      stream = device.createStream();
      manager =
          new SpillManager(
              PerDeviceResource.of(device),
              new PinnedHostMemoryResource(device),
              Long.MAX_VALUE,
              true,
              new SpillStatistics(1),
              System::nanoTime);
      quota = manager.openQuota("the benchmark", SpillLimits.DEFAULT);
      retry = new GpuRetry(quota, new GpuSemaphore(4, System::nanoTime));
      Buffer data =
          Buffer.allocate(ROWS * Long.BYTES, stream, quota.resource(MemoryBudget.unlimited()));
      Column column = new Column(DataType.INT64, ROWS, 0, data, null, List.of());
      table = new Table(Schema.of(DataType.Field.of("id", DataType.INT64)), List.of(column), ROWS);
    }

    @TearDown
    public void close() {
      table.close();
      quota.close();
      manager.close();
      stream.close();
    }
  }

  /** The result of an attempt without a retry around it. */
  @Benchmark
  public int attemptAlone(OpenShare open) {
    return open.table.rowCount();
  }

  @Benchmark
  public int withRetry(OpenShare open) {
    return open.retry.withRetry(open.table::rowCount);
  }

  @Benchmark
  public void withSplitAndRetry(OpenShare open, Blackhole results) {
    open.retry.withSplitAndRetry(open.table, Table::rowCount, results::consume);
  }
}
