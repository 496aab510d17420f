// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Makes rows of the columns of one table in host memory. Valid as long as the access scope that it
 * was made with. Used by one thread.
 *
 * @param <T> the kind of row
 */
@PublicEvolving
@FunctionalInterface
public interface RowDecoder<T> {
  /**
   * The row at {@code row}. It may be the same object at every call, with new content.
   *
   * @param row within the table; not checked
   */
  T decode(int row);

  /** Makes the decoders of tables of one schema. Used by one thread. */
  @FunctionalInterface
  interface OfTables<T> {
    /**
     * A decoder of {@code table}.
     *
     * @param table in host memory; stays the caller's
     * @param scope on a host stream
     */
    RowDecoder<T> decoder(Table table, AccessScope scope);
  }

  /** Prepares what tables have in common, once an operator; serialized with the job. */
  @FunctionalInterface
  interface Factory<T> extends Serializable {
    /** Makes the decoders of tables of {@code schema}. */
    OfTables<T> create(Schema schema);
  }
}
