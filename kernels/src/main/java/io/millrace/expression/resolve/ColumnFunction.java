// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.PublicEvolving;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import java.io.Serializable;

/**
 * A user-defined function in plain Java over vectors of up to {@value HostVector#CAPACITY} rows,
 * for operations that SQL does not provide. It runs on the host, so a calc that uses it is
 * evaluated there as a whole: its batches are copied to the host and the results back.
 *
 * <pre>{@code
 * ColumnFunction.ofRow(
 *     (operands, result, row) ->
 *         result.setString(row, soundex(operands[0].getString(row))))
 * }</pre>
 *
 * <p>Must be stateless: all threads call one instance. It is serialized with the job, including
 * everything it refers to.
 *
 * <p>An exception fails the job like any failing row: an {@link EvaluationException} names the
 * expression, the row and its values, has the exception as its cause, and is thrown after the
 * preceding rows were sent. To find the failing row, the function is called again for each row
 * alone, so a row's result must depend on its operands only.
 */
@PublicEvolving
@FunctionalInterface
public interface ColumnFunction extends HostFunction, Serializable {

  /** Computes one row; serialized with the job. */
  @FunctionalInterface
  interface SerializableRowFunction extends RowFunction, Serializable {}

  /** A function that computes row by row. */
  static ColumnFunction ofRow(SerializableRowFunction function) {
    return (operands, result, rows) ->
        HostFunction.ofRow(function).evaluate(operands, result, rows);
  }
}
