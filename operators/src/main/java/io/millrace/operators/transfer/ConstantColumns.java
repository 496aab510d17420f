// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.ConstantColumn;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.annotation.Internal;

/** Columns with one value in all rows, behind the columns of a table. */
@Internal
public final class ConstantColumns {
  private ConstantColumns() {}

  /**
   * A table with {@code constants} behind the columns of {@code rows}: makes one attempt. Waits.
   *
   * @param rows stays the caller's
   * @param transfer stays the caller's; copies the values to the device
   */
  public static Table append(
      Table rows,
      List<ConstantColumn> constants,
      HostTransfer transfer,
      DeviceStream stream,
      MemoryResource memory) {
    try (Table columns = repeat(constants, rows.rowCount(), transfer, stream, memory)) {
      int first = rows.columnCount();
      Schema schema =
          new Schema(
              Stream.concat(rows.schema().fields().stream(), columns.schema().fields().stream())
                  .toList());
      return Table.of(
          schema,
          rows.rowCount(),
          i -> (i < first ? rows.column(i) : columns.column(i - first)).share());
    }
  }

  private static Table repeat(
      List<ConstantColumn> constants,
      int rows,
      HostTransfer transfer,
      DeviceStream stream,
      MemoryResource memory) {
    try (Table row = row(constants, transfer);
        Column firstRows = firstRows(rows, stream, memory)) {
      return Gather.gather(row, firstRows, stream, memory);
    }
  }

  private static Table row(List<ConstantColumn> constants, HostTransfer transfer) {
    Schema schema = new Schema(constants.stream().map(ConstantColumn::field).toList());
    try (RowTableBuilder builder = transfer.tableBuilder(schema)) {
      for (int i = 0; i < constants.size(); i++) {
        FixedWidthColumnBuilder column = (FixedWidthColumnBuilder) builder.column(i);
        column.appendLong(constants.get(i).value());
      }
      return transfer.upload(builder.finish(1));
    }
  }

  private static Column firstRows(int rows, DeviceStream stream, MemoryResource memory) {
    long bytes = (long) rows * Integer.BYTES;
    try (Buffer numbers = Buffer.allocate(bytes, stream, memory);
        AccessScope scope = AccessScope.on(stream)) {
      stream.fill(numbers.access(AccessMode.WRITE, scope), (byte) 0, bytes);
      return new Column(DataType.INT32, rows, 0, numbers.slice(0, bytes), null, List.of());
    }
  }
}
