package io.millrace.operators.row;

/**
 * Makes rows of the columns of one table in host memory. Valid as long as the access scope that it
 * was made with. Used by one thread.
 *
 * @param <T> the kind of row
 */
public interface RowDecoder<T> {
  /**
   * The row at {@code row}. It may be the same object at every call, with new content.
   *
   * @param row within the table; not checked
   */
  T decode(int row);
}
