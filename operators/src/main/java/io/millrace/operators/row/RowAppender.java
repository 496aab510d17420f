package io.millrace.operators.row;

/**
 * Appends rows to the columns of a {@link io.millrace.column.RowTableBuilder}. Nothing of a row is
 * kept, so rows may be reused. Used by one thread.
 *
 * @param <T> the kind of row
 */
public interface RowAppender<T> {
  /**
   * Appends one row to every column.
   *
   * @throws IllegalArgumentException if the row does not fit the schema: another number of fields,
   *     a null in a NOT NULL column, a value of another type, a row kind that the schema has no
   *     column for. The columns may then differ in size.
   */
  void append(T row);
}
