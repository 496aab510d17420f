// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.transfer.HostTransfer;

/** Row numbers that the host computes and the device gathers by. */
final class RowMap {
  private static final Schema SCHEMA = Schema.of(new Field("row", DataType.INT32, false));

  private RowMap() {}

  /**
   * Makes one attempt to upload the numbers as a table of one INT32 column; the caller closes it.
   */
  static Table upload(HostTransfer transfer, int[] rows) {
    try (RowTableBuilder builder = transfer.tableBuilder(SCHEMA)) {
      FixedWidthColumnBuilder column = (FixedWidthColumnBuilder) builder.column(0);
      for (int row : rows) {
        column.appendInt(row);
      }
      return transfer.upload(builder.finish(rows.length));
    }
  }
}
