// SPDX-License-Identifier: Apache-2.0
package io.millrace.libcudf;

import ai.rapids.cudf.ColumnVector;
import ai.rapids.cudf.Cuda;
import ai.rapids.cudf.GroupByAggregation;
import ai.rapids.cudf.Rmm;
import ai.rapids.cudf.RmmAllocationMode;
import ai.rapids.cudf.Table;
import io.millrace.state.StateInputRows;
import java.util.Arrays;
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
 * What libcudf needs to group a batch alone, by the same keys and with the same functions as {@link
 * io.millrace.state.StateUpdateBenchmark}: it keeps no state.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class LibcudfGroupByBenchmark {
  private static final long POOL_BYTES = 20L << 30;

  @Param({"65536", "1048576"})
  public int rows;

  @Param({"1000", "1000000", "100000000"})
  public long keys;

  private Table table;

  /** Copies the rows to the device. */
  @Setup
  public void create() {
    if (!Rmm.isInitialized()) {
      Rmm.initialize(RmmAllocationMode.POOL, null, POOL_BYTES);
    }
    long[] key = new long[rows];
    long[] value = new long[rows];
    Arrays.parallelSetAll(key, row -> StateInputRows.uniform(0, row, keys));
    Arrays.parallelSetAll(value, row -> row);
    try (ColumnVector keyColumn = ColumnVector.fromLongs(key);
        ColumnVector valueColumn = ColumnVector.fromLongs(value)) {
      table = new Table(keyColumn, valueColumn);
    }
  }

  /** Groups, waits, and frees the result. */
  @Benchmark
  public long groupBy() {
    try (Table output =
        table
            .groupBy(0)
            .aggregate(
                GroupByAggregation.sum().onColumn(1),
                GroupByAggregation.count().onColumn(1),
                GroupByAggregation.max().onColumn(1))) {
      Cuda.DEFAULT_STREAM.sync();
      return output.getRowCount();
    }
  }

  /** Frees the device's memory. */
  @TearDown
  public void close() {
    table.close();
  }
}
