// SPDX-License-Identifier: Apache-2.0
package io.millrace.libcudf;

import ai.rapids.cudf.ColumnVector;
import ai.rapids.cudf.Rmm;
import ai.rapids.cudf.RmmAllocationMode;
import ai.rapids.cudf.Table;
import io.millrace.kernel.partition.PartitionInput;
import java.util.Arrays;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** The rows of {@link PartitionInput} in libcudf's memory, which comes from its pool allocator. */
@State(Scope.Benchmark)
public class LibcudfPartitionInput {
  private static final long POOL_BYTES = 20L << 30;

  Table table;

  /** Copies the rows to the device. */
  @Setup
  public void create(PartitionInput input) {
    if (!Rmm.isInitialized()) {
      Rmm.initialize(RmmAllocationMode.POOL, null, POOL_BYTES);
    }
    long[] keys = new long[input.rows];
    long[] numbers = new long[input.rows];
    double[] halves = new double[input.rows];
    int[] lows = new int[input.rows];
    Arrays.parallelSetAll(keys, PartitionInput::key);
    Arrays.parallelSetAll(numbers, row -> row);
    Arrays.parallelSetAll(halves, row -> row * 0.5);
    Arrays.parallelSetAll(lows, row -> row);
    try (ColumnVector key = ColumnVector.fromLongs(keys);
        ColumnVector number = ColumnVector.fromLongs(numbers);
        ColumnVector half = ColumnVector.fromDoubles(halves);
        ColumnVector low = ColumnVector.fromInts(lows)) {
      table = new Table(key, number, half, low);
    }
  }

  /** Frees the device's memory. */
  @TearDown
  public void close() {
    table.close();
  }
}
