// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.deduplicate;

import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;

/**
 * Rows of a batch with their arrival numbers.
 *
 * @param input all columns of the rows
 * @param keys the key columns and the arrival numbers
 */
record NumberedRows(Table input, Table keys) implements AutoCloseable {
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(input::close);
    failure.run(keys::close);
    failure.rethrow();
  }
}
