// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.deduplicate;

import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;

/**
 * Rows of a batch and what the state is updated with.
 *
 * @param input all columns of the rows
 * @param keys the key columns, and the column or the arrival numbers that order the rows
 */
record OrderedRows(Table input, Table keys) implements AutoCloseable {
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(input::close);
    failure.run(keys::close);
    failure.rethrow();
  }
}
