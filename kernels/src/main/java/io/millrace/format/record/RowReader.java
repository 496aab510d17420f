// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.annotation.Internal;

/**
 * Reads records of a format on the host, one by one: the twin of its kernel. Used by one thread.
 */
@Internal
public interface RowReader extends AutoCloseable {

  /**
   * Reads the record from {@code start} to {@code end}, counted from {@code address}, into a row;
   * {@link RecordError#word}.
   */
  long read(long address, int start, int end, int row);

  /**
   * As the other method, for a record with a further text, from {@code other} to {@code otherEnd}:
   * fields that are not in the first text are read there. Only called if the format's records may
   * have two.
   */
  default long read(long address, int start, int end, int other, int otherEnd, int row) {
    throw new IllegalStateException("records have one text");
  }

  /**
   * As the other method, for an element of a list. Only called if {@link
   * RecordFormat#hasPrograms()}.
   *
   * @param program the number of the one that reads the element
   */
  default long readElement(long address, int start, int end, int program, int row) {
    throw new IllegalStateException("elements have no programs");
  }

  /** Whether the last record is a row that has the field, which is not null. */
  boolean isPresent(int field);

  @Override
  default void close() {}
}
