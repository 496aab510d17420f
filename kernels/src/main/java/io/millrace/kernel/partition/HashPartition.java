// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.memory.MemoryResource;
import java.util.List;
import java.util.Objects;

/** Groups the rows of a table by the hash of key columns. Rows keep their order in a partition. */
@PublicEvolving
public final class HashPartition {
  /** The largest number of key columns and struct levels. */
  public static final int MAX_KEY_COLUMNS = PartitionArguments.MAX_KEY_COLUMNS;

  private HashPartition() {}

  /**
   * As {@link #hashPartition(Table, List, PartitionAssigner, HashFunction, DeviceStream,
   * MemoryResource)}, with libcudf's partition numbers.
   *
   * @throws IllegalArgumentException if {@code partitions} is less than 1 or more than {@link
   *     PartitionAssigner#MAX_PARTITIONS}
   */
  public static PartitionedTable hashPartition(
      Table input,
      List<Integer> keyColumns,
      int partitions,
      HashFunction function,
      DeviceStream stream,
      MemoryResource memory) {
    return hashPartition(
        input, keyColumns, PartitionAssigner.modulo(partitions), function, stream, memory);
  }

  /**
   * Groups the rows of {@code input} by partition, in new memory. Waits for {@code stream}, because
   * it returns the offsets, and before that for a row count that is known on the device only, so
   * that launches and allocations fit the rows.
   *
   * @param keyColumns positions of the columns to hash: fixed-width types, strings, and structs of
   *     them
   * @throws IndexOutOfBoundsException if the table has no column at a position
   * @throws IllegalArgumentException if there is no key, if there are more than {@value
   *     #MAX_KEY_COLUMNS} key columns and struct levels, or if the function does not support a
   *     key's type
   */
  public static PartitionedTable hashPartition(
      Table input,
      List<Integer> keyColumns,
      PartitionAssigner numbering,
      HashFunction function,
      DeviceStream stream,
      MemoryResource memory) {
    List<Column> keys =
        keyColumns.stream()
            .map(position -> Objects.checkIndex(position, input.columnCount()))
            .map(input::column)
            .toList();
    PartitionIds source = new KeyColumns(keys, function, numbering, stream);
    return StablePartition.partition(input, source, numbering.partitions(), stream, memory);
  }
}
