// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.deduplicate;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.transfer.HostTransfer;
import java.util.ArrayList;
import java.util.List;

/**
 * The numbers from 0 on as a column, kept for all batches: made again only when a batch has more
 * rows than all batches before.
 */
final class Positions implements AutoCloseable {
  private static final int MIN_ROWS = 1 << 10;

  private final HostTransfer transfer;
  private Table numbers;

  Positions(HostTransfer transfer) {
    this.transfer = transfer;
  }

  /**
   * The table with the number of each row as a further column: makes one attempt. The caller closes
   * the result.
   *
   * @param rows stays the caller's
   */
  Table appendTo(Table rows, String name) {
    Field field = new Field(name, DataType.INT32, false);
    List<Field> fields = new ArrayList<>(rows.schema().fields());
    fields.add(field);
    List<Column> columns = new ArrayList<>();
    reserve(rows.rowCount());
    rows.columns().forEach(column -> columns.add(column.share()));
    columns.add(numbers.column(0).slice(0, rows.rowCount()));
    return new Table(new Schema(fields), columns, rows.rowCount());
  }

  private void reserve(int rows) {
    if (numbers != null && numbers.rowCount() >= rows) {
      return;
    }
    int count = Math.max(MIN_ROWS, Math.max(1, Integer.highestOneBit(rows - 1)) * 2);
    Schema schema = Schema.of(new Field("number", DataType.INT32, false));
    try (RowTableBuilder builder = transfer.tableBuilder(schema)) {
      FixedWidthColumnBuilder column = (FixedWidthColumnBuilder) builder.column(0);
      for (int row = 0; row < count; row++) {
        column.appendInt(row);
      }
      Table uploaded = transfer.upload(builder.finish(count));
      close();
      numbers = uploaded;
    }
  }

  @Override
  public void close() {
    if (numbers != null) {
      numbers.close();
      numbers = null;
    }
  }
}
