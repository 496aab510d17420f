// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import org.openjdk.jmh.annotations.Benchmark;

/**
 * Deals rows of 28 bytes to partitions in turn: output allocation and host-visible offsets
 * included.
 */
public class RoundRobinPartitionBenchmark extends PartitionBenchmark {
  /** Deals, waits for the rows as well as the offsets, and frees the output. */
  @Benchmark
  public int roundRobinPartition(PartitionInput input) {
    try (PartitionedTable output = partition(input, partitions)) {
      input.stream.synchronize();
      return output.partitionCount();
    }
  }

  /** The measured operation; the caller closes the output. */
  public static PartitionedTable partition(PartitionInput input, int partitions) {
    return RoundRobinPartition.roundRobinPartition(
        input.table, partitions, 0, input.stream, input.memory);
  }
}
