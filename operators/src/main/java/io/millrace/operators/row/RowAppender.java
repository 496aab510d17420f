// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.RowTableBuilder;
import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Appends rows to the columns of a {@link RowTableBuilder}. Nothing of a row is kept, so rows may
 * be reused. Used by one thread.
 *
 * @param <T> the kind of row
 */
@PublicEvolving
public interface RowAppender<T> {
  /**
   * Appends one row to every column.
   *
   * @throws IllegalArgumentException if the row does not fit the schema: another number of fields,
   *     a null in a NOT NULL column, a value of another type, a row kind that the schema has no
   *     column for. The columns may then differ in size.
   */
  void append(T row);

  /** Makes the appender of a table; serialized with the job. */
  @FunctionalInterface
  interface Factory<T> extends Serializable {
    /**
     * An appender to {@code table}, whose schema gives the fields of the rows.
     *
     * @throws IllegalArgumentException if no rows of this kind fit the schema
     */
    RowAppender<T> create(RowTableBuilder table);
  }
}
