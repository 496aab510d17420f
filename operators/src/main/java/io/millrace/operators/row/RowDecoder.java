// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Makes rows of the columns of one table in host memory. A decoder is valid as long as the access
 * scope that it was made with. Used by one thread.
 *
 * @param <T> the type of the rows
 */
@PublicEvolving
@FunctionalInterface
public interface RowDecoder<T> {
  /**
   * The row at {@code row}. It may be the same object at every call, with new content.
   *
   * @param row the position of the row in the table; not checked
   */
  T decode(int row);

  /** Makes the decoders of tables of one schema. Used by one thread. */
  @FunctionalInterface
  interface OfTables<T> {
    /**
     * A decoder of {@code table}.
     *
     * @param table in host memory; the caller keeps ownership
     * @param scope on a host stream
     */
    RowDecoder<T> decoder(Table table, AccessScope scope);
  }

  /** Prepares once per operator what its tables have in common; serialized with the job. */
  @FunctionalInterface
  interface Factory<T> extends Serializable {
    /** Makes the decoders of tables of {@code schema}. */
    OfTables<T> create(Schema schema);
  }
}
