// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

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

/** Where the elements of lists are, one after the other. */
final class ListPositions {
  /**
   * Of each element the row that its list is in, and its number among the elements of all lists,
   * which is negative for a row that has none and is kept.
   */
  static final Schema SCHEMA =
      Schema.of(
          new Field("row", DataType.INT32, false), new Field("element", DataType.INT32, false));

  /**
   * As many positions as a table of several rows may have, 256 MiB of them: more rows are split.
   */
  static final int MAX_ROWS = 1 << 25;

  private static final int MAXIMUM = Integer.MAX_VALUE - Long.BYTES;
  private static final Schema BOUNDS =
      Schema.of(Field.of("begin", DataType.INT32), new Field("end", DataType.INT32, false));

  private ListPositions() {}

  /** The begin and end of each list, over the same memory; the begin is null where the list is. */
  static Table bounds(Column lists) {
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
   * @param bounds as {@link #bounds} gives them, in host memory
   * @param outer whether a row whose list is empty or null has a position
   * @param scope on a host stream
   * @param builder of such tables
   * @throws GpuOutOfMemoryException if there are more than a table is to have, which fewer rows may
   *     not
   */
  static Table of(Table bounds, boolean outer, AccessScope scope, RowTableBuilder builder) {
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
    if (count > (begins.size() > 1 ? MAX_ROWS : MAXIMUM)) {
      throw new GpuOutOfMemoryException("lists of " + count + " elements are too many for a table");
    }
    return (int) count;
  }

  private static int length(ColumnReader begins, ColumnReader ends, int row) {
    return begins.isNull(row) ? 0 : ends.getInt(row) - begins.getInt(row);
  }
}
