package io.millrace.kernel;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Deals rows of 28 bytes to partitions in turn: output allocation and host-visible offsets
 * included.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 1, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 1, time = 700, timeUnit = TimeUnit.MILLISECONDS)
@Fork(0)
public class RoundRobinPartitionBenchmark {
  @Param({"8", "64", "512"})
  public int partitions;

  /** Deals, waits for the rows as well as the offsets, and frees the output. */
  @Benchmark
  public int roundRobinPartition(PartitionInput input) {
    try (PartitionedTable output = partition(input, partitions)) {
      input.stream.synchronize();
      return output.partitionCount();
    }
  }

  /** What is measured; the caller closes the output. */
  public static PartitionedTable partition(PartitionInput input, int partitions) {
    return RoundRobinPartition.roundRobinPartition(
        input.table, partitions, 0, input.stream, input.memory);
  }
}
