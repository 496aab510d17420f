// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import io.millrace.column.Column;
import io.millrace.column.ColumnBuilder;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.column.VariableWidthColumnBuilder;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.transfer.HostTransfer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.apache.kafka.common.TopicPartition;

/** Makes the metadata columns of rows. Used by one thread. */
final class MetadataTable implements AutoCloseable {
  private final List<MetadataColumn> columns;
  private final Schema schema;
  private final HostTransfer transfer;
  private final RowTableBuilder builder;

  /**
   * @param schema of the rows, with the metadata columns behind their own, and a row-kind column
   *     behind these if they have one
   */
  MetadataTable(DeviceContext context, Schema schema, List<MetadataColumn> columns) {
    this.columns = columns;
    this.schema = schema;
    this.transfer = new HostTransfer(context);
    this.builder =
        transfer.tableBuilder(new Schema(columns.stream().map(MetadataColumn::field).toList()));
  }

  /**
   * Makes one attempt: the rows with the metadata of their records.
   *
   * @param rows stay the caller's
   * @param recordOf gives the number in {@code block} of the record of a row
   * @return the caller's
   */
  Table addTo(Table rows, RecordBlock block, IntUnaryOperator recordOf) {
    int count = rows.rowCount();
    builder.truncate(0);
    int header = 0;
    for (int i = 0; i < columns.size(); i++) {
      MetadataColumn column = columns.get(i);
      append(column, builder.column(i), block, header, count, recordOf);
      header += column.source() == MetadataColumn.Source.HEADER ? 1 : 0;
    }
    try (Table metadata = transfer.upload(builder.finish(count))) {
      List<Column> all = new ArrayList<>();
      rows.columns().forEach(column -> all.add(column.share()));
      int behind = rows.columns().size() - (RowKindColumn.isIn(rows.schema()) ? 1 : 0);
      all.addAll(behind, metadata.columns().stream().map(Column::share).toList());
      return rows.withColumns(schema, all);
    }
  }

  private static void append(
      MetadataColumn column,
      ColumnBuilder target,
      RecordBlock block,
      int header,
      int rows,
      IntUnaryOperator recordOf) {
    byte[] topic = block.topic().getBytes(StandardCharsets.UTF_8);
    byte[] topicPartition =
        new TopicPartition(block.topic(), block.partition())
            .toString()
            .getBytes(StandardCharsets.UTF_8);
    for (int row = 0; row < rows; row++) {
      int record = recordOf.applyAsInt(row);
      switch (column.source()) {
        case TOPIC -> appendBytes(target, topic);
        case TOPIC_PARTITION -> appendBytes(target, topicPartition);
        case PARTITION -> ((FixedWidthColumnBuilder) target).appendInt(block.partition());
        case OFFSET -> ((FixedWidthColumnBuilder) target).appendLong(block.offset(record));
        case TIMESTAMP -> appendTimestamp(target, block.timestamp(record));
        case KEY -> appendBytes(target, block.key(record));
        case HEADER -> appendBytes(target, block.header(header, record));
      }
    }
  }

  private static void appendTimestamp(ColumnBuilder target, long timestamp) {
    if (timestamp < 0) {
      target.appendNull();
    } else {
      ((FixedWidthColumnBuilder) target).appendLong(timestamp);
    }
  }

  private static void appendBytes(ColumnBuilder target, byte[] bytes) {
    if (bytes == null) {
      target.appendNull();
      return;
    }
    byte[] appended = target.type().id() == TypeId.STRING ? utf8(bytes) : bytes;
    ((VariableWidthColumnBuilder) target).appendBytes(appended);
  }

  private static byte[] utf8(byte[] bytes) {
    for (byte b : bytes) {
      if (b < 0) {
        return new String(bytes, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8);
      }
    }
    return bytes;
  }

  @Override
  public void close() {
    builder.close();
    transfer.close();
  }
}
