// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.column.Table;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.kernel.gather.GatherPlan;
import io.millrace.kernel.gather.HostGather;
import io.millrace.kernel.hash.KeyVector;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;

/** Groups rows by partition, whatever says which, without changing their order in a partition. */
final class StablePartition {
  private StablePartition() {}

  static PartitionedTable partition(
      Table input,
      PartitionIds source,
      int partitions,
      DeviceStream stream,
      MemoryResource memory) {
    int rows = input.rowCount();
    if (rows == 0) {
      return new PartitionedTable(input.share(), new int[partitions + 1]);
    }
    try (AccessScope scope = AccessScope.on(stream);
        GatherPlan moves = new GatherPlan(input.columns(), rows, scope, memory)) {
      int[] offsets =
          stream.device().kind() == DeviceKind.HOST
              ? onHost(moves, source.onHost(scope, partitions, capacity(rows)), partitions)
              : PartitionKernels.of(stream.device())
                  .partition(moves, source, partitions, scope, memory);
      return new PartitionedTable(new Table(input.schema(), moves.takeColumns(), rows), offsets);
    }
  }

  private static int[] onHost(GatherPlan moves, PartitionIds.HostNumbers numbers, int partitions) {
    int rows = moves.rows();
    long bytes = (long) rows * Integer.BYTES;
    long partitionOf = moves.allocateScratch(bytes);
    int[] offsets = count(numbers, rows, partitions, partitionOf);
    int[] next = offsets.clone();
    long map = moves.allocateScratch(bytes);
    for (int row = 0; row < rows; row++) {
      int partition = HostMemory.getInt(partitionOf + (long) row * Integer.BYTES);
      HostMemory.putInt(map + (long) next[partition]++ * Integer.BYTES, row);
    }
    HostGather.gatherAll(moves, map);
    return offsets;
  }

  /** Writes the partition of each row; returns where the partitions begin, and the end. */
  private static int[] count(
      PartitionIds.HostNumbers numbers, int rows, int partitions, long partitionOf) {
    int[] offsets = new int[partitions + 1];
    int[] chunk = new int[capacity(rows)];
    for (int first = 0, count; first < rows; first += count) {
      count = Math.min(chunk.length, rows - first);
      numbers.number(first, count, chunk);
      for (int i = 0; i < count; i++) {
        HostMemory.putInt(partitionOf + ((long) first + i) * Integer.BYTES, chunk[i]);
        offsets[chunk[i] + 1]++;
      }
    }
    for (int i = 0; i < partitions; i++) {
      offsets[i + 1] += offsets[i];
    }
    return offsets;
  }

  private static int capacity(int rows) {
    return Math.min(rows, KeyVector.CAPACITY);
  }
}
