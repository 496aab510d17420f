// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;
import org.apache.flink.annotation.PublicEvolving;

/**
 * What a {@link KeyedBatchFunction} makes of a batch. Tables are in the memory of the device, and
 * go to the caller.
 *
 * @param output rows of {@link KeyedBatchFunction#outputSchema}; null if there are none
 * @param state of {@link KeyedBatchFunction#stateSchema}: a row for each of the batch's keys, in
 *     their order, with all values that the key has from now on; null if no value changes
 */
@PublicEvolving
public record KeyedResult(Table output, Table state) implements AutoCloseable {
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    if (output != null) {
      failure.run(output::close);
    }
    if (state != null) {
      failure.run(state::close);
    }
    failure.rethrow();
  }
}
