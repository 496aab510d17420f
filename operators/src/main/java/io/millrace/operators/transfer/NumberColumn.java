// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;

/**
 * Numbers with the same difference as an INT32 column in the memory of an operator's device, kept
 * for all batches: made again only when a batch has more rows than all batches before. Used by one
 * thread.
 */
@Internal
public final class NumberColumn implements AutoCloseable {
  private static final int MIN_ROWS = 1 << 10;
  private static final Schema SCHEMA = Schema.of(new Field("number", DataType.INT32, false));

  private final HostTransfer transfer;
  private final int first;
  private final int difference;
  private Table numbers;

  /**
   * @param transfer of the operator, which stays open as long as this
   */
  public NumberColumn(HostTransfer transfer, int first, int difference) {
    this.transfer = transfer;
    this.first = first;
    this.difference = difference;
  }

  /** The first numbers: makes one attempt. The caller closes the column. */
  public Column column(int rows) {
    reserve(rows);
    return numbers.column(0).slice(0, rows);
  }

  /**
   * The table with the first numbers as a further column: makes one attempt. The caller closes the
   * result.
   *
   * @param rows stays the caller's
   */
  public Table appendTo(Table rows, String name) {
    List<Field> fields = new ArrayList<>(rows.schema().fields());
    fields.add(new Field(name, DataType.INT32, false));
    List<Column> columns = new ArrayList<>();
    Column column = column(rows.rowCount());
    rows.columns().forEach(other -> columns.add(other.share()));
    columns.add(column);
    return new Table(new Schema(fields), columns, rows.rowCount());
  }

  private void reserve(int rows) {
    if (numbers != null && numbers.rowCount() >= rows) {
      return;
    }
    int count = Math.max(MIN_ROWS, Math.max(1, Integer.highestOneBit(rows - 1)) * 2);
    try (RowTableBuilder builder = transfer.tableBuilder(SCHEMA)) {
      FixedWidthColumnBuilder column = (FixedWidthColumnBuilder) builder.column(0);
      for (int row = 0; row < count; row++) {
        column.appendInt(first + row * difference);
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
