// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.aggregate.function.BatchAggregateFunction;
import io.millrace.state.row.StateSchema;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.flink.annotation.Internal;

/**
 * A user-defined function, whose accumulators are kept in front of the aggregates.
 *
 * @param arguments of the function
 * @param accumulators of the function
 * @param numbered rows for the aggregates, with the number of each row's key
 * @param calls of {@code numbered}: the arguments, the kind of a changelog, and the number of the
 *     key; without rows that were added, and those that the filter leaves out
 * @param rowCounts of a changelog: the number of rows by the number of the key, updated with {@code
 *     numbered}; else null
 * @param counted of a changelog: the new accumulators, the rows before and those that came, and the
 *     result; else null
 * @param lives of {@code counted}: what is left of keys of which rows are left; else null
 * @param addedRows of the keys and the result: rows for the aggregates
 */
@Internal
public record FunctionStep(
    ArgumentName name,
    BatchAggregateFunction function,
    Schema arguments,
    Schema accumulators,
    Schema numbered,
    Calc calls,
    StateSchema rowCounts,
    Schema counted,
    Calc lives,
    Calc addedRows)
    implements ArgumentStep {
  /** The number of a row's key. */
  static final Field KEY_NUMBER = new Field("$key_number", DataType.INT32, false);

  /** The number of rows of a key of a changelog: a column of the state; null if there are none. */
  static final Field ROWS = Field.of("$rows", DataType.INT64);

  /** The result of the function, in the input of {@code addedRows}. */
  static final String RESULT = "$result";

  boolean isChangelog() {
    return lives != null;
  }

  /** The columns of the state: the accumulators, and {@link #ROWS} of a changelog. */
  Schema stateColumns() {
    return isChangelog() ? accumulators.with(ROWS) : accumulators;
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    Stream.of(calls, lives, addedRows)
        .filter(Objects::nonNull)
        .forEach(calc -> failure.run(calc::close));
    failure.rethrow();
  }
}
