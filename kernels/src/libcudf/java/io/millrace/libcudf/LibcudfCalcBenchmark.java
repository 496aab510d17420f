package io.millrace.libcudf;

import ai.rapids.cudf.ColumnVector;
import ai.rapids.cudf.Cuda;
import ai.rapids.cudf.Scalar;
import ai.rapids.cudf.Table;
import io.millrace.expression.CalcBenchmark;
import io.millrace.kernel.PartitionInput;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The counterpart of {@link CalcBenchmark} in libcudf: only the columns that are used are filtered.
 */
public class LibcudfCalcBenchmark extends CalcBenchmark {
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
    int rows = super.filterAndProject(input);
    if (rows != run()) {
      throw new IllegalStateException("libcudf keeps other than " + rows + " rows");
    }
  }

  @Override
  @Benchmark
  public int filterAndProject(PartitionInput input) {
    return run();
  }

  private int run() {
    try (ColumnVector keep = used.getColumn(0).lessThan(zero);
        Table kept = used.filter(keep);
        ColumnVector sum = kept.getColumn(0).add(kept.getColumn(1));
        ColumnVector part = kept.getColumn(2).mul(factor)) {
      Cuda.DEFAULT_STREAM.sync();
      return (int) sum.getRowCount();
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
