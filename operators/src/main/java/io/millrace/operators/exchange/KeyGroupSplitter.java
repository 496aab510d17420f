// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.column.Table;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionAssigner;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.DownloadQueue;
import java.util.List;
import java.util.function.Consumer;

/**
 * Groups rows on the device by the subtask that owns their key group, or by the key group itself,
 * and cuts the groups by bytes. Rows keep their order within a group.
 */
final class KeyGroupSplitter implements TableSplitter {
  private final DeviceContext context;
  private final ByteSlicer slicer;
  private final List<Integer> keyColumns;
  private final HashFunction hash;
  private final boolean perKeyGroup;
  private final PartitionAssigner numbering;

  private KeyGroupSplitter(
      DeviceContext context,
      List<Integer> keyColumns,
      HashFunction hash,
      boolean perKeyGroup,
      PartitionAssigner numbering,
      int maximumBytes) {
    this.context = context;
    this.slicer = new ByteSlicer(maximumBytes, context.hostStream());
    this.keyColumns = keyColumns;
    this.hash = hash;
    this.perKeyGroup = perKeyGroup;
    this.numbering = numbering;
  }

  /**
   * Makes splitters. With one target, all rows go there and nothing is partitioned.
   *
   * @param keyColumns positions of the key's columns
   * @param perKeyGroup whether a part has rows of one key group only
   * @param maximumBytes the most bytes of an encoded part that has more than one row
   */
  static TableSplitter.Factory factory(
      List<Integer> keyColumns, HashFunction hash, boolean perKeyGroup, int maximumBytes) {
    return (context, target) -> {
      int partitions = perKeyGroup ? target.keyGroups() : target.subtasks();
      if (partitions == 1) {
        return new WholeTableSplitter(context, maximumBytes, part -> route(part, 0, perKeyGroup));
      }
      PartitionAssigner numbering =
          perKeyGroup
              ? PartitionAssigner.keyGroups(target.keyGroups())
              : PartitionAssigner.subtasks(target.keyGroups(), target.subtasks());
      return new KeyGroupSplitter(context, keyColumns, hash, perKeyGroup, numbering, maximumBytes);
    };
  }

  private static ColumnBatch route(Table part, int partition, boolean perKeyGroup) {
    return perKeyGroup
        ? ColumnBatch.ofKeyGroup(part, partition)
        : ColumnBatch.forTarget(part, partition);
  }

  @Override
  public void split(ColumnBatch batch, DownloadQueue downloads, Output output) {
    context
        .retry()
        .withSplitAndRetry(
            batch.tableWithEventTimes(),
            this::partition,
            partitioned -> download(partitioned, downloads, output));
  }

  private PartitionedTable partition(Table table) {
    return HashPartition.hashPartition(
        table, keyColumns, numbering, hash, context.stream(), context.resource());
  }

  private void download(PartitionedTable partitioned, DownloadQueue downloads, Output output) {
    ColumnBatch grouped;
    try (partitioned) {
      grouped = new ColumnBatch(partitioned.table().share());
    }
    try {
      downloads.addWithEventTimes(grouped, new Groups(partitioned.offsets(), output));
    } finally {
      grouped.release();
    }
  }

  /** Cuts the rows of a partitioned table, which may be downloaded as several tables. */
  private final class Groups implements Consumer<Table> {
    private final int[] offsets;
    private final Output output;
    private int rowsBefore;

    private Groups(int[] offsets, Output output) {
      this.offsets = offsets;
      this.output = output;
    }

    @Override
    public void accept(Table host) {
      context.retry().withHostRetry(() -> cut(host)).sendTo(output);
      rowsBefore += host.rowCount();
    }

    private TableParts cut(Table host) {
      TableParts parts = new TableParts();
      try {
        for (int i = 0; i + 1 < offsets.length; i++) {
          int partition = i;
          int start = positionIn(host, offsets[i]);
          slicer.slice(
              host,
              start,
              positionIn(host, offsets[i + 1]) - start,
              (part, bytes) -> parts.add(route(part, partition, perKeyGroup), bytes));
        }
        return parts;
      } catch (RuntimeException | Error e) {
        parts.close();
        throw e;
      }
    }

    /** The offset of {@code row} in this part, between 0 and its row count. */
    private int positionIn(Table host, int row) {
      return Math.max(0, Math.min(host.rowCount(), row - rowsBefore));
    }
  }
}
