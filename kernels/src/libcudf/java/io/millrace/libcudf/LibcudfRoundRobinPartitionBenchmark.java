// SPDX-License-Identifier: Apache-2.0
package io.millrace.libcudf;

import ai.rapids.cudf.Cuda;
import ai.rapids.cudf.PartitionedTable;
import io.millrace.kernel.partition.PartitionBenchmark;
import io.millrace.kernel.partition.PartitionInput;
import io.millrace.kernel.partition.RoundRobinPartitionBenchmark;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;

/** The counterpart of {@link RoundRobinPartitionBenchmark} in libcudf. */
public class LibcudfRoundRobinPartitionBenchmark extends PartitionBenchmark {
  /** Fails the benchmark if the two libraries partition the same rows differently. */
  @Setup
  public void compare(PartitionInput input, LibcudfPartitionInput libcudf) {
    try (io.millrace.kernel.partition.PartitionedTable ours =
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
