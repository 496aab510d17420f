// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.PerDeviceResource;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.memory.resource.PoolMemoryResource;
import io.millrace.memory.spill.MemoryBudget;
import io.millrace.memory.spill.SpillLimits;
import io.millrace.memory.spill.SpillManager;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.memory.spill.SpillStatistics;
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
 * Updates the sum, count and maximum of keys that are all in the state; old and new values come
 * out. Output allocation and host-visible counts included.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class StateUpdateBenchmark {
  private static final int BATCHES = 8;
  private static final int FILL_ROWS = 1 << 20;
  private static final long HOT_KEY = 1;
  private static final long HOST_PIECE = 256L << 20;

  @Param({"65536", "1048576"})
  public int rows;

  @Param({"1000", "1000000", "100000000"})
  public long keys;

  /** How many of two rows have one and the same key. */
  @Param({"0"})
  public int hotRowsOfTwo;

  /** Device memory for the state and the batches; the rest lies on the host. 0 for no limit. */
  @Param({"0"})
  public long deviceMegabytes;

  private SpillManager manager;
  private SpillQuota quota;
  private DeviceStream stream;
  private StateTable table;
  private final List<Table> batches = new ArrayList<>();
  private int next;

  /** The schema of the state. */
  public static StateSchema schema() {
    return new StateSchema(
        StateInputRows.SCHEMA,
        List.of(0),
        List.of(
            new Accumulator("sum", Function.SUM, 1),
            Accumulator.countRows("count"),
            new Accumulator("max", Function.MAX, 1)),
        StateSchema.NO_KINDS);
  }

  /** Fills the state and makes batches. */
  @Setup
  public void create() {
    Device device = Device.current();
    stream = device.createStream();
    MemoryResource memory = deviceMegabytes == 0 ? PerDeviceResource.of(device) : limited(device);
    table = new StateTable(schema(), stream, memory);
    for (long first = 0; first < keys; first += FILL_ROWS) {
      long start = first;
      int count = (int) Math.min(FILL_ROWS, keys - first);
      update(count, row -> StateInputRows.key(start + row), memory);
    }
    for (int batch = 0; batch < BATCHES; batch++) {
      long number = batch;
      batches.add(
          StateInputRows.batch(
              rows,
              row ->
                  row % 2 < hotRowsOfTwo
                      ? StateInputRows.key(HOT_KEY)
                      : StateInputRows.uniform(number, row, keys),
              stream,
              memory));
    }
  }

  private MemoryResource limited(Device device) {
    MemoryResource host =
        new PoolMemoryResource(new PinnedHostMemoryResource(device), HOST_PIECE, Long.MAX_VALUE);
    SpillStatistics statistics = new SpillStatistics(1);
    manager =
        new SpillManager(
            PerDeviceResource.of(device), host, Long.MAX_VALUE, true, statistics, System::nanoTime);
    quota =
        manager.openQuota(
            "the benchmark", SpillLimits.DEFAULT.withDeviceBytes(deviceMegabytes << 20));
    return quota.resource(MemoryBudget.unlimited());
  }

  private void update(int count, LongUnaryOperator key, MemoryResource memory) {
    try (Table batch = StateInputRows.batch(count, key, stream, memory)) {
      table.update(batch).close();
    }
  }

  /** Updates, waits, and frees the result. */
  @Benchmark
  public int stateUpdate() {
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
    if (quota != null) {
      quota.close();
      manager.close();
    }
    stream.close();
  }
}
