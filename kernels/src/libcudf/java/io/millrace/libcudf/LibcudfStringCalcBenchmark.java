// SPDX-License-Identifier: Apache-2.0
package io.millrace.libcudf;

import ai.rapids.cudf.ColumnVector;
import ai.rapids.cudf.Cuda;
import ai.rapids.cudf.Rmm;
import ai.rapids.cudf.RmmAllocationMode;
import ai.rapids.cudf.Scalar;
import ai.rapids.cudf.Table;
import io.millrace.calc.StringCalcBenchmark;
import io.millrace.calc.StringInput;
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

/** The counterpart of {@link StringCalcBenchmark} in libcudf. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class LibcudfStringCalcBenchmark {
  private static final long POOL_BYTES = 20L << 30;

  private Table table;
  private Scalar pattern;
  private Scalar escape;

  /** Fails the benchmark if the two libraries keep different numbers of rows. */
  @Setup
  public void prepare(StringInput input) {
    if (!Rmm.isInitialized()) {
      Rmm.initialize(RmmAllocationMode.POOL, null, POOL_BYTES);
    }
    try (ColumnVector texts = ColumnVector.fromStrings(StringInput.texts(input.rows))) {
      table = new Table(texts);
    }
    pattern = Scalar.fromString(StringCalcBenchmark.PATTERN);
    escape = Scalar.fromString("\\");
    int rows = new StringCalcBenchmark().rows(input);
    if (rows != run()) {
      throw new IllegalStateException("libcudf keeps other than " + rows + " rows");
    }
  }

  /** Filters and projects, waits, and frees the output. */
  @Benchmark
  public int likeAndSubstring() {
    return run();
  }

  private int run() {
    try (ColumnVector keep = table.getColumn(0).like(pattern, escape);
        Table kept = table.filter(keep);
        ColumnVector part = kept.getColumn(0).substring(6, 18)) {
      Cuda.DEFAULT_STREAM.sync();
      return (int) part.getRowCount();
    }
  }

  /** Frees the device's memory. */
  @TearDown
  public void release() {
    table.close();
    pattern.close();
    escape.close();
  }
}
