// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Table;

/**
 * A table whose rows are grouped by partition, the partitions in ascending order. Owns the table;
 * its holder closes it once.
 */
@PublicEvolving
public final class PartitionedTable implements AutoCloseable {
  private final Table table;
  private final int[] offsets;

  /**
   * @param offsets where each partition starts, then the row count
   */
  PartitionedTable(Table table, int[] offsets) {
    this.table = table;
    this.offsets = offsets;
  }

  /** All rows, still owned by this. */
  public Table table() {
    return table;
  }

  /** The first row of each partition, then the row count: partitions + 1 numbers. */
  public int[] offsets() {
    return offsets.clone();
  }

  public int partitionCount() {
    return offsets.length - 1;
  }

  public int rowCount(int partition) {
    return offsets[partition + 1] - offsets[partition];
  }

  /** The rows of one partition over the same memory. The caller closes it. */
  public Table partition(int partition) {
    return table.slice(offsets[partition], rowCount(partition));
  }

  @Override
  public void close() {
    table.close();
  }
}
