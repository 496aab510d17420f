// SPDX-License-Identifier: Apache-2.0
package io.millrace.libcudf;

import ai.rapids.cudf.ColumnVector;
import ai.rapids.cudf.Cuda;
import ai.rapids.cudf.Scalar;
import ai.rapids.cudf.Table;
import io.millrace.calc.CalcBenchmark;
import io.millrace.kernel.partition.PartitionInput;
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

/**
 * The counterpart of {@link CalcBenchmark} in libcudf: only the columns that are used are filtered.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class LibcudfCalcBenchmark {
  private Table used;
  private Scalar zero;
  private Scalar factor;

  /** Fails the benchmark if the two libraries keep different numbers of rows. */
  @Setup
  public void prepare(PartitionInput input, LibcudfPartitionInput libcudf) {
    used =
        new Table(
            libcudf.table.getColumn(0), libcudf.table.getColumn(1), libcudf.table.getColumn(2));
    zero = Scalar.fromLong(0);
    factor = Scalar.fromDouble(0.908);
    int rows = new CalcBenchmark().rows(input);
    if (rows != run()) {
      throw new IllegalStateException("libcudf keeps other than " + rows + " rows");
    }
  }

  /** Filters and projects, waits, and frees the output. */
  @Benchmark
  public int filterAndProject() {
    return run();
  }

  private int run() {
    try (ColumnVector keep = used.getColumn(0).lessThan(zero);
        Table kept = used.filter(keep);
        ColumnVector sum = kept.getColumn(0).add(kept.getColumn(1));
        ColumnVector part = kept.getColumn(2).mul(factor)) {
      Cuda.DEFAULT_STREAM.sync();
      return Math.toIntExact((sum.getRowCount() + part.getRowCount()) / 2);
    }
  }

  /** Frees the device's memory. */
  @TearDown
  public void release() {
    used.close();
    zero.close();
    factor.close();
  }
}
