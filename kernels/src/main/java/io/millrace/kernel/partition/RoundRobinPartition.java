// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.PerDevice;
import io.millrace.kernel.gather.GatherPlan;
import io.millrace.kernel.gather.HostGather;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;

/**
 * Deals the rows of a table to partitions like cards: row i goes to partition (i + start) modulo
 * the partitions. Rows keep their order in a partition.
 */
@PublicEvolving
public final class RoundRobinPartition {
  /** Moves the rows of {@code plan} to their partitions. */
  private interface Deal {
    void deal(
        GatherPlan plan,
        int partitions,
        int startPartition,
        DeviceStream stream,
        MemoryResource memory);
  }

  private static final PerDevice<Deal> DEALS =
      new PerDevice<>(
          host -> RoundRobinPartition::dealOnHost, gpu -> new RoundRobinKernels(gpu)::deal);

  private RoundRobinPartition() {}

  /**
   * Deals the rows of {@code input} into a table in new memory. Enqueued on {@code stream}; does
   * not wait, because the offsets follow from the row count.
   *
   * @param startPartition the partition of the first row
   * @throws IllegalArgumentException if {@code partitions} is less than 2 or more than {@link
   *     PartitionAssigner#MAX_PARTITIONS}, or if {@code startPartition} is negative or not less
   *     than {@code partitions}
   */
  public static PartitionedTable roundRobinPartition(
      Table input, int partitions, int startPartition, DeviceStream stream, MemoryResource memory) {
    if (partitions <= 1) {
      throw new IllegalArgumentException("expected at least 2 partitions, got " + partitions);
    }
    PartitionAssigner.checkPartitions(partitions);
    if (startPartition < 0 || startPartition >= partitions) {
      throw new IllegalArgumentException(
          "expected a start partition from 0 to " + (partitions - 1) + ", got " + startPartition);
    }
    int rows = input.rowCount();
    int[] offsets = offsets(rows, partitions, startPartition);
    if (rows == 0) {
      return new PartitionedTable(input.share(), offsets);
    }
    try (AccessScope scope = AccessScope.on(stream);
        GatherPlan plan = GatherPlan.ofReordering(input.columns(), rows, scope, memory)) {
      DEALS.of(stream.device()).deal(plan, partitions, startPartition, stream, memory);
      return new PartitionedTable(new Table(input.schema(), plan.takeColumns(), rows), offsets);
    }
  }

  // Each partition gets one row of each whole deal; the last deal may end early.
  private static int[] offsets(int rows, int partitions, int startPartition) {
    int[] offsets = new int[partitions + 1];
    for (int partition = 0; partition < partitions; partition++) {
      int card = Math.floorMod(partition - startPartition, partitions);
      int more = card < rows % partitions ? 1 : 0;
      offsets[partition + 1] = offsets[partition] + rows / partitions + more;
    }
    return offsets;
  }

  private static void dealOnHost(
      GatherPlan plan,
      int partitions,
      int startPartition,
      DeviceStream stream,
      MemoryResource memory) {
    HostGather.gatherAll(plan, map(plan, partitions, startPartition));
  }

  private static long map(GatherPlan plan, int partitions, int startPartition) {
    long map = plan.allocateScratch((long) plan.rows() * Integer.BYTES);
    long next = map;
    for (int partition = 0; partition < partitions; partition++) {
      long card = Math.floorMod(partition - startPartition, partitions);
      for (long row = card; row < plan.rows(); row += partitions) {
        HostMemory.putInt(next, (int) row);
        next += Integer.BYTES;
      }
    }
    return map;
  }
}
