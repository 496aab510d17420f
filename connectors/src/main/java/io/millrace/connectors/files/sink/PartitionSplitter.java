// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.partition.Partition;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.memory.AccessScope;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.row.RowDataDecoder;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.transfer.HostTransfer;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.utils.PartitionPathUtils;

/**
 * Cuts batches into the rows of each partition, on the operator's device. Waits for the device once
 * or twice a batch, as the host reads the keys of each row to number the partitions. Used by one
 * thread.
 */
final class PartitionSplitter implements AutoCloseable {
  private static final Schema NUMBERS = Schema.of(new Field("partition", DataType.INT32, false));

  private final PartitionKeys keys;
  private final DeviceContext context;
  private final HostTransfer transfer;

  /**
   * @param context of the operator; stays open as long as this
   */
  PartitionSplitter(PartitionKeys keys, DeviceContext context) {
    this.keys = keys;
    this.context = context;
    this.transfer = new HostTransfer(context);
  }

  /**
   * Cuts a batch.
   *
   * @param batch stays the caller's
   * @param parts takes the folder of each partition, and borrows its rows without the keys
   */
  void split(ColumnBatch batch, BiConsumer<String, ColumnBatch> parts) {
    if (keys.isEmpty()) {
      parts.accept("", batch);
      return;
    }
    if (batch.table().rowCount() > 0) {
      context.retry().withSplitAndRetry(batch.table(), this::cut, cut -> send(cut, parts));
    }
  }

  /** The rows of each partition, without the keys, and its folder. */
  private record Cut(List<String> folders, List<Table> tables) implements AutoCloseable {
    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      tables.forEach(table -> failure.run(table::close));
      failure.rethrow();
    }
  }

  private void send(Cut cut, BiConsumer<String, ColumnBatch> parts) {
    try (cut) {
      for (int i = 0; i < cut.folders.size(); i++) {
        context.checkNotCanceled();
        ColumnBatch batch = new ColumnBatch(cut.tables.get(i).share());
        try {
          parts.accept(cut.folders.get(i), batch);
        } finally {
          batch.release();
        }
      }
    }
  }

  /** Makes one attempt. */
  private Cut cut(Table rows) {
    Numbering numbering = number(rows);
    List<String> folders = numbering.folders;
    try (Table columns = rows.select(keys.columnsOfFiles(rows.schema()).names())) {
      if (folders.size() == 1) {
        return new Cut(folders, List.of(columns.share()));
      }
      try (PartitionedTable partitioned = partition(columns, numbering)) {
        return new Cut(
            folders, IntStream.range(0, folders.size()).mapToObj(partitioned::partition).toList());
      }
    }
  }

  /** The number of the partition of each row, and the folder of each partition. */
  @SuppressWarnings("ArrayRecordComponent") // not compared
  private record Numbering(int[] numbers, List<String> folders) {}

  private Numbering number(Table rows) {
    try (Table keyColumns = rows.select(keys.names());
        Table host = transfer.toHost(keyColumns);
        AccessScope scope = AccessScope.on(context.hostStream())) {
      RowDataDecoder decoder = new RowDataDecoder(host, scope);
      RowType type = SchemaConverter.toRowType(host.schema());
      Map<BinaryRowData, Integer> numberOf = new HashMap<>();
      List<String> folders = new ArrayList<>();
      int[] numbers = new int[rows.rowCount()];
      for (int row = 0; row < numbers.length; row++) {
        BinaryRowData key = decoder.decode(row);
        Integer number = numberOf.get(key);
        if (number == null) {
          number = folders.size();
          numberOf.put(key.copy(), number);
          folders.add(folder(key, type));
        }
        numbers[row] = number;
      }
      return new Numbering(numbers, folders);
    }
  }

  private String folder(RowData key, RowType type) {
    LinkedHashMap<String, String> names = new LinkedHashMap<>();
    for (int i = 0; i < type.getFieldCount(); i++) {
      Object value = RowData.createFieldGetter(type.getTypeAt(i), i).getFieldOrNull(key);
      String name = value == null ? "" : value.toString();
      if (value != null && type.getTypeAt(i).is(LogicalTypeRoot.DATE)) {
        name = LocalDate.ofEpochDay((int) value).toString();
      }
      names.put(keys.names().get(i), name.isEmpty() ? keys.defaultName() : name);
    }
    return PartitionPathUtils.generatePartitionPath(names);
  }

  private PartitionedTable partition(Table rows, Numbering numbering) {
    try (RowTableBuilder builder = transfer.tableBuilder(NUMBERS)) {
      FixedWidthColumnBuilder column = (FixedWidthColumnBuilder) builder.column(0);
      for (int number : numbering.numbers) {
        column.appendInt(number);
      }
      try (Table numbers = transfer.upload(builder.finish(numbering.numbers.length))) {
        return Partition.partition(
            rows,
            numbers.column(0),
            numbering.folders.size(),
            context.stream(),
            context.resource());
      }
    }
  }

  @Override
  public void close() {
    transfer.close();
  }
}
