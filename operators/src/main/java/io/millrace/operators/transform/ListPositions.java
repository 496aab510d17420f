package io.millrace.operators.transform;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import java.util.List;

/** Where the elements of lists are, one after the other. */
final class ListPositions {
  private static final Schema BOUNDS =
      Schema.of(Field.of("begin", DataType.INT32), new Field("end", DataType.INT32, false));

  private final int[] rows;
  private final int[] elements;

  private ListPositions(int[] rows, int[] elements) {
    this.rows = rows;
    this.elements = elements;
  }

  /** Of each element, the row that its list is in. */
  int[] rows() {
    return rows;
  }

  /**
   * Of each element, its number among the elements of all lists; negative for a row that has none
   * and is kept.
   */
  int[] elements() {
    return elements;
  }

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
   * The positions.
   *
   * @param bounds as {@link #bounds} gives them, in host memory
   * @param outer whether a row whose list is empty or null has a position
   * @param scope on a host stream
   * @throws GpuOutOfMemoryException if there are more than a table can have, which fewer rows may
   *     not
   */
  static ListPositions of(Table bounds, boolean outer, AccessScope scope) {
    ColumnReader begins = new ColumnReader(bounds.column(0), scope);
    ColumnReader ends = new ColumnReader(bounds.column(1), scope);
    long count = 0;
    for (int row = 0; row < begins.size(); row++) {
      int length = length(begins, ends, row);
      count += outer ? Math.max(1, length) : length;
    }
    if (count > Integer.MAX_VALUE - Long.BYTES) {
      throw new GpuOutOfMemoryException("a table cannot have " + count + " rows");
    }
    int[] rows = new int[(int) count];
    int[] elements = new int[(int) count];
    int next = 0;
    for (int row = 0; row < begins.size(); row++) {
      int length = length(begins, ends, row);
      if (length == 0 && outer) {
        rows[next] = row;
        elements[next++] = -1;
      }
      for (int i = 0; i < length; i++) {
        rows[next] = row;
        elements[next++] = begins.getInt(row) + i;
      }
    }
    return new ListPositions(rows, elements);
  }

  private static int length(ColumnReader begins, ColumnReader ends, int row) {
    return begins.isNull(row) ? 0 : ends.getInt(row) - begins.getInt(row);
  }
}
