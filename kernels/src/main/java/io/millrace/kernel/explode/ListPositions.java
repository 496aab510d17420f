// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.explode;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import java.util.List;

/** The positions of the elements of all lists of a column, one after the other. */
@PublicEvolving
public final class ListPositions {
  /**
   * The row of the list of each element, and the number of the element among the elements of all
   * lists. The number is negative for a row that has no element and is kept.
   */
  public static final Schema SCHEMA =
      Schema.of(
          new Field("row", DataType.INT32, false), new Field("element", DataType.INT32, false));

  /** The most positions of a table of several rows, 256 MiB: larger tables are split. */
  static final int MAX_ROWS = 1 << 25;

  private static final int MAX_ELEMENTS = Integer.MAX_VALUE - Long.BYTES;
  private static final Schema BOUNDS =
      Schema.of(Field.of("begin", DataType.INT32), new Field("end", DataType.INT32, false));

  private ListPositions() {}

  /**
   * The begin and end of each list, as handles on the memory of {@code lists}; the begin of a null
   * list is null. The caller closes the table.
   */
  public static Table bounds(Column lists) {
    Column offsets = lists.child(0);
    Buffer data = offsets.data().orElseThrow();
    long begin = (long) offsets.offset() * Integer.BYTES;
    long end = begin + Integer.BYTES;
    Column begins =
        new Column(
            DataType.INT32,
            lists.size(),
            lists.offset(),
            data.slice(begin, data.size() - begin),
            lists.validity().map(Buffer::share).orElse(null),
            List.of());
    Column ends =
        new Column(
            DataType.INT32,
            lists.size(),
            lists.offset(),
            data.slice(end, data.size() - end),
            null,
            List.of());
    return new Table(BOUNDS, List.of(begins, ends), lists.size());
  }

  /**
   * The positions, as a table of {@link #SCHEMA} in host memory, which the caller closes.
   *
   * @param bounds the result of {@link #bounds}, in host memory
   * @param outer whether a row with an empty or null list has a position
   * @param scope on a host stream
   * @param builder of tables of {@link #SCHEMA} in host memory
   * @throws GpuOutOfMemoryException if a table of these rows would have too many positions; fewer
   *     rows may fit
   */
  public static Table of(Table bounds, boolean outer, AccessScope scope, RowTableBuilder builder) {
    ColumnReader begins = new ColumnReader(bounds.column(0), scope);
    ColumnReader ends = new ColumnReader(bounds.column(1), scope);
    int count = count(begins, ends, outer);
    FixedWidthColumnBuilder rows = (FixedWidthColumnBuilder) builder.column(0);
    FixedWidthColumnBuilder elements = (FixedWidthColumnBuilder) builder.column(1);
    for (int row = 0; row < begins.size(); row++) {
      int length = length(begins, ends, row);
      if (length == 0 && outer) {
        rows.appendInt(row);
        elements.appendInt(-1);
      }
      for (int i = 0; i < length; i++) {
        rows.appendInt(row);
        elements.appendInt(begins.getInt(row) + i);
      }
    }
    return builder.finish(count);
  }

  private static int count(ColumnReader begins, ColumnReader ends, boolean outer) {
    long count = 0;
    for (int row = 0; row < begins.size(); row++) {
      int length = length(begins, ends, row);
      count += outer ? Math.max(1, length) : length;
    }
    int limit = begins.size() > 1 ? MAX_ROWS : MAX_ELEMENTS;
    if (count > limit) {
      throw new GpuOutOfMemoryException(
          "expected at most " + limit + " list elements for a table, got " + count);
    }
    return (int) count;
  }

  private static int length(ColumnReader begins, ColumnReader ends, int row) {
    return begins.isNull(row) ? 0 : ends.getInt(row) - begins.getInt(row);
  }
}
