// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.Internal;
import io.millrace.column.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The way to a column of a table: an input column, or a field of STRUCT columns at any depth.
 *
 * @param column index of the input column
 * @param fields positions of the fields on the way, the outermost first; empty for the input column
 *     itself
 */
@Internal
public record InputPath(int column, List<Integer> fields) {

  public InputPath {
    fields = List.copyOf(fields);
  }

  /**
   * A column and where a table's rows are in it.
   *
   * @param column owned by the table
   * @param firstRow position of the table's first row among the elements of {@code column}, to
   *     which the offset of {@code column} is added
   * @param rows number of rows of the table
   */
  public record Location(Column column, int firstRow, int rows) {

    /** Position of the table's first row in the buffers of {@code column}, and in its children. */
    public int firstElement() {
      return firstRow + column.offset();
    }

    /** The table's rows as a new column over the same memory, which the caller closes. */
    public Column share() {
      return column.slice(firstRow, rows);
    }
  }

  /** The path that {@code expression} reads; empty if it is neither an input column nor a field. */
  public static Optional<InputPath> of(TypedExpression expression) {
    if (expression instanceof TypedExpression.InputReference reference) {
      return Optional.of(new InputPath(reference.index(), List.of()));
    } else if (expression instanceof FieldAccess access) {
      return of(access.struct()).map(path -> path.then(access.index()));
    }
    return Optional.empty();
  }

  private InputPath then(int field) {
    return new InputPath(column, Stream.concat(fields.stream(), Stream.of(field)).toList());
  }

  /** Where this path leads from the columns of a table. */
  public Location in(List<Column> columns) {
    List<Location> way = along(columns);
    return way.get(way.size() - 1);
  }

  /** All columns on this path from the columns of a table, the outermost first. */
  public List<Location> along(List<Column> columns) {
    Column input = columns.get(column);
    List<Location> way = new ArrayList<>(List.of(new Location(input, 0, input.size())));
    for (int field : fields) {
      Location outer = way.get(way.size() - 1);
      way.add(new Location(outer.column().child(field), outer.firstElement(), input.size()));
    }
    return way;
  }
}
