// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.PerDevice;
import io.millrace.kernel.gather.GatherPlan;
import io.millrace.kernel.gather.HostGather;
import io.millrace.kernel.hash.KeyVector;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;

/** Groups rows by partition id. Rows keep their order in a partition. */
final class StablePartition {
  /** Fills the columns of {@code plan} and returns the partitions' offsets. */
  private interface Implementation {
    int[] partition(
        GatherPlan plan,
        PartitionIds ids,
        int partitions,
        AccessScope scope,
        MemoryResource memory);
  }

  private static final PerDevice<Implementation> IMPLEMENTATIONS =
      new PerDevice<>(
          host -> StablePartition::onHost,
          gpu -> new PartitionKernels(gpu, gpu.properties())::partition);

  private StablePartition() {}

  static PartitionedTable partition(
      Table input, PartitionIds ids, int partitions, DeviceStream stream, MemoryResource memory) {
    int rows = input.rowCount();
    if (rows == 0) {
      return new PartitionedTable(input.share(), new int[partitions + 1]);
    }
    try (AccessScope scope = AccessScope.on(stream);
        GatherPlan plan = GatherPlan.ofReordering(input.columns(), rows, scope, memory)) {
      int[] offsets =
          IMPLEMENTATIONS.of(stream.device()).partition(plan, ids, partitions, scope, memory);
      return new PartitionedTable(new Table(input.schema(), plan.takeColumns(), rows), offsets);
    }
  }

  private static int[] onHost(
      GatherPlan plan, PartitionIds ids, int partitions, AccessScope scope, MemoryResource memory) {
    int rows = plan.rows();
    PartitionIds.HostNumbers numbers = ids.onHost(scope, partitions, capacity(rows));
    long bytes = (long) rows * Integer.BYTES;
    long partitionOf = plan.allocateScratch(bytes);
    int[] offsets = count(numbers, rows, partitions, partitionOf);
    int[] next = offsets.clone();
    long map = plan.allocateScratch(bytes);
    for (int row = 0; row < rows; row++) {
      int partition = HostMemory.getInt(partitionOf + (long) row * Integer.BYTES);
      HostMemory.putInt(map + (long) next[partition]++ * Integer.BYTES, row);
    }
    HostGather.gatherAll(plan, map);
    return offsets;
  }

  /** Writes the partition of each row; returns the partitions' offsets and the row count. */
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
