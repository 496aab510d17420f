// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;

/** Groups the rows of a table by a given number for each row. Rows keep their order. */
@PublicEvolving
public final class Partition {
  private Partition() {}

  /**
   * The table with its rows grouped by partition, in new memory. Waits for {@code stream}, because
   * it returns the offsets.
   *
   * @param map the partition of each row, from 0 to {@code partitions} - 1; in which partition a
   *     row with another number ends is undefined
   * @throws IllegalArgumentException if {@code partitions} is less than 1 or more than {@link
   *     PartitionAssigner#MAX_PARTITIONS}, or if the map is not of integers, has nulls, or has not
   *     one number a row
   */
  public static PartitionedTable partition(
      Table input, Column map, int partitions, DeviceStream stream, MemoryResource memory) {
    PartitionAssigner.checkPartitions(partitions);
    if (!PartitionMap.isInteger(map.type().id())) {
      throw new IllegalArgumentException("expected a partition map of integers, got " + map.type());
    }
    if (map.size() != input.rowCount()) {
      throw new IllegalArgumentException(
          "expected a partition map of " + input.rowCount() + " rows, got " + map.size());
    }
    if (map.nullCount(stream) > 0) {
      throw new IllegalArgumentException(
          "the partition map has " + map.nullCount(stream) + " nulls");
    }
    return StablePartition.partition(input, new PartitionMap(map), partitions, stream, memory);
  }
}
