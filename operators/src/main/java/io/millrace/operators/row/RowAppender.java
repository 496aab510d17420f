// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.RowTableBuilder;
import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Appends rows to the columns of a {@link RowTableBuilder}. Values are copied, so row objects may
 * be reused. Used by one thread.
 *
 * @param <T> the type of the rows
 */
@PublicEvolving
public interface RowAppender<T> {
  /**
   * Appends one row to every column.
   *
   * @throws IllegalArgumentException if the row does not fit the schema: another number of fields,
   *     a null in a NOT NULL column, a value of another type, a row kind that the schema has no
   *     column for. After this exception the columns may differ in size.
   */
  void append(T row);

  /** Makes the appender of a table; serialized with the job. */
  @FunctionalInterface
  interface Factory<T> extends Serializable {
    /**
     * An appender to {@code table}, whose schema gives the fields of the rows.
     *
     * @throws IllegalArgumentException if rows of this type cannot fit the schema
     */
    RowAppender<T> create(RowTableBuilder table);
  }
}
