// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionAssigner;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.operators.context.DeviceContext;
import io.millrace.state.StateBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.api.common.TaskInfo;

/**
 * Keeps the rows of a block whose keys belong to a subtask: the rows that an exchange with the same
 * hash sends there. Works on the host.
 */
final class KeyGroupFilter {
  private static final Field ROW = new Field("$row", DataType.INT32, false);

  private final int subtask;
  private final int keyColumns;
  private final HashFunction keyHash;
  private final PartitionAssigner assigner;
  private final DeviceStream stream;
  private final MemoryResource memory;

  /**
   * @param task the subtask, its parallelism and the number of key groups
   * @param keyColumns how many of the first columns of a state's key assign a row to a subtask
   * @param keyHash of these columns
   * @param context whose host stream and pinned memory are used
   */
  KeyGroupFilter(TaskInfo task, int keyColumns, HashFunction keyHash, DeviceContext context) {
    this.subtask = task.getIndexOfThisSubtask();
    this.keyColumns = keyColumns;
    this.keyHash = keyHash;
    this.stream = context.hostStream();
    this.memory = context.pinnedResource();
    this.assigner =
        PartitionAssigner.subtasks(
            task.getMaxNumberOfParallelSubtasks(), task.getNumberOfParallelSubtasks());
  }

  /** Drops the rows of other subtasks: makes one attempt. Returns the block. */
  StateBlock apply(StateBlock block) {
    try (Table keys = block.keys(stream, memory);
        Table numbered = withRowNumbers(keys);
        PartitionedTable parts =
            HashPartition.hashPartition(
                numbered,
                IntStream.range(0, keyColumns).boxed().toList(),
                assigner,
                keyHash,
                stream,
                memory)) {
      int[] offsets = parts.offsets();
      int count = offsets[subtask + 1] - offsets[subtask];
      block.keep(rows(parts.table(), offsets[subtask], count), count);
      return block;
    }
  }

  private int[] rows(Table table, int first, int count) {
    int[] rows = new int[count];
    try (AccessScope scope = AccessScope.on(stream)) {
      ColumnReader reader = new ColumnReader(table.column(table.columnCount() - 1), scope);
      for (int i = 0; i < count; i++) {
        rows[i] = reader.getInt(first + i);
      }
    }
    return rows;
  }

  private Table withRowNumbers(Table keys) {
    int rows = keys.rowCount();
    Buffer data = Buffer.allocate((long) rows * Integer.BYTES, stream, memory);
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = data.access(AccessMode.WRITE, scope);
      for (int row = 0; row < rows; row++) {
        HostMemory.putInt(address + (long) row * Integer.BYTES, row);
      }
    } catch (RuntimeException | Error e) {
      data.close();
      throw e;
    }
    List<Field> fields = new ArrayList<>(keys.schema().fields());
    fields.add(ROW);
    List<Column> columns = new ArrayList<>();
    keys.columns().forEach(column -> columns.add(column.share()));
    columns.add(new Column(DataType.INT32, rows, 0, data, null, List.of()));
    return new Table(new Schema(fields), columns, rows);
  }
}
