// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.kernel.hash.HashFunction;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;

/**
 * Groups rows of 28 bytes by the hash of a key: output allocation and host-visible offsets
 * included.
 */
public class HashPartitionBenchmark extends PartitionBenchmark {
  /** Partitions, waits for the rows as well as the offsets, and frees the output. */
  @Benchmark
  public int hashPartition(PartitionInput input) {
    try (PartitionedTable output = partition(input, partitions)) {
      input.stream.synchronize();
      return output.partitionCount();
    }
  }

  /** The measured operation; the caller closes the output. */
  public static PartitionedTable partition(PartitionInput input, int partitions) {
    return HashPartition.hashPartition(
        input.table,
        List.of(PartitionInput.KEY),
        partitions,
        HashFunction.MURMUR3_32,
        input.stream,
        input.memory);
  }
}
