package io.millrace.libcudf;

import ai.rapids.cudf.Cuda;
import ai.rapids.cudf.PartitionedTable;
import io.millrace.kernel.PartitionInput;
import io.millrace.kernel.RoundRobinPartitionBenchmark;
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
import org.openjdk.jmh.annotations.Warmup;

/** The counterpart of {@link RoundRobinPartitionBenchmark} in libcudf. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class LibcudfRoundRobinPartitionBenchmark {
  @Param({"8", "64", "512"})
  public int partitions;

  /** Fails the benchmark if the two libraries partition the same rows differently. */
  @Setup
  public void compare(PartitionInput input, LibcudfPartitionInput libcudf) {
    try (io.millrace.kernel.PartitionedTable ours =
            RoundRobinPartitionBenchmark.partition(input, partitions);
        PartitionedTable theirs = partition(libcudf)) {
      PartitionComparison.assertSameRows(ours, theirs, input.stream);
    }
  }

  /** Partitions, waits, and frees the output. */
  @Benchmark
  public int roundRobinPartition(LibcudfPartitionInput libcudf) {
    try (PartitionedTable output = partition(libcudf)) {
      Cuda.DEFAULT_STREAM.sync();
      return output.getPartitions().length;
    }
  }

  private PartitionedTable partition(LibcudfPartitionInput libcudf) {
    return libcudf.table.roundRobinPartition(partitions, 0);
  }
}
