// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate.function;

import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;
import org.apache.flink.annotation.PublicEvolving;

/**
 * What a {@link BatchAggregateFunction} makes of a batch, with a row for each of the batch's keys,
 * in their order. Both are in the memory of the device, and go to the caller.
 *
 * @param accumulators of {@link BatchAggregateFunction#accumulatorSchema}: all values that the key
 *     has from now on
 * @param results of {@link BatchAggregateFunction#resultType}
 */
@PublicEvolving
public record AggregateResult(Table accumulators, Column results) implements AutoCloseable {
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(accumulators::close);
    failure.run(results::close);
    failure.rethrow();
  }
}
