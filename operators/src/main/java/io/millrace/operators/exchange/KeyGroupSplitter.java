package io.millrace.operators.exchange;

import io.millrace.column.Table;
import io.millrace.kernel.HashFunction;
import io.millrace.kernel.HashPartition;
import io.millrace.kernel.PartitionNumbering;
import io.millrace.kernel.PartitionedTable;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.DeviceContext;
import io.millrace.operators.batch.HostTransfer;
import java.util.List;

/**
 * Groups rows on the device by the subtask that owns their key group, or by the key group itself,
 * and cuts the groups by bytes. Rows keep their order within a group.
 */
final class KeyGroupSplitter implements TableSplitter {
  private final DeviceContext context;
  private final HostTransfer transfer;
  private final ByteSlicer slicer;
  private final List<Integer> keyColumns;
  private final HashFunction hash;
  private final boolean perKeyGroup;
  private final PartitionNumbering numbering;

  private KeyGroupSplitter(
      DeviceContext context,
      List<Integer> keyColumns,
      HashFunction hash,
      boolean perKeyGroup,
      PartitionNumbering numbering,
      int maximumBytes) {
    this.context = context;
    this.transfer = new HostTransfer(context);
    this.slicer = new ByteSlicer(maximumBytes, context.hostStream());
    this.keyColumns = keyColumns;
    this.hash = hash;
    this.perKeyGroup = perKeyGroup;
    this.numbering = numbering;
  }

  /**
   * Makes splitters. Where there is one target, all rows go there and nothing is partitioned.
   *
   * @param keyColumns positions of the key's columns
   * @param perKeyGroup whether a part has rows of one key group only
   * @param maximumBytes what parts are cut to
   */
  static TableSplitter.Factory factory(
      List<Integer> keyColumns, HashFunction hash, boolean perKeyGroup, int maximumBytes) {
    return (context, target) -> {
      int partitions = perKeyGroup ? target.keyGroups() : target.subtasks();
      if (partitions == 1) {
        return new WholeTableSplitter(context, maximumBytes, part -> route(part, 0, perKeyGroup));
      }
      PartitionNumbering numbering =
          perKeyGroup
              ? PartitionNumbering.keyGroups(target.keyGroups())
              : PartitionNumbering.subtasks(target.keyGroups(), target.subtasks());
      return new KeyGroupSplitter(context, keyColumns, hash, perKeyGroup, numbering, maximumBytes);
    };
  }

  private static ColumnBatch route(Table part, int partition, boolean perKeyGroup) {
    return perKeyGroup
        ? ColumnBatch.ofKeyGroup(part, partition)
        : ColumnBatch.forTarget(part, partition);
  }

  @Override
  public void split(Table table, Output output) {
    context.retry().withSplitAndRetry(table, this::cut, parts -> parts.sendTo(output));
  }

  private TableParts cut(Table table) {
    TableParts parts = new TableParts();
    try (PartitionedTable partitioned =
            HashPartition.hashPartition(
                table, keyColumns, numbering, hash, context.stream(), context.resource());
        Table host = transfer.toHost(partitioned.table())) {
      int[] offsets = partitioned.offsets();
      for (int i = 0; i < partitioned.partitionCount(); i++) {
        int partition = i;
        slicer.slice(
            host,
            offsets[i],
            offsets[i + 1] - offsets[i],
            (part, bytes) -> parts.add(route(part, partition, perKeyGroup), bytes));
      }
      return parts;
    } catch (RuntimeException | Error e) {
      parts.close();
      throw e;
    }
  }
}
