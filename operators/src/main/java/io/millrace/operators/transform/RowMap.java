package io.millrace.operators.transform;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.batch.HostTransfer;
import java.util.stream.IntStream;

/** Row numbers that the host finds out and the device gathers by. */
final class RowMap {
  private RowMap() {}

  /**
   * One attempt: a table of an INT32 column for each of {@code maps}, in the device's memory; the
   * caller closes it.
   *
   * @param maps of equal length
   */
  static Table upload(HostTransfer transfer, int[]... maps) {
    Schema schema =
        new Schema(
            IntStream.range(0, maps.length)
                .mapToObj(i -> new Field("map " + i, DataType.INT32, false))
                .toList());
    try (RowTableBuilder builder = transfer.tableBuilder(schema)) {
      for (int i = 0; i < maps.length; i++) {
        FixedWidthColumnBuilder column = (FixedWidthColumnBuilder) builder.column(i);
        for (int row : maps[i]) {
          column.appendInt(row);
        }
      }
      return transfer.upload(builder.finish(maps[0].length));
    }
  }
}
