// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.PublicEvolving;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import java.io.Serializable;

/**
 * A user's function in plain Java, over vectors of up to {@value HostVector#CAPACITY} rows: for
 * what no function of SQL does. It runs on the host, so a calc that uses it is evaluated there as a
 * whole: its batches are copied to the host, and their results back.
 *
 * <pre>{@code
 * ColumnFunction.ofRow(
 *     (operands, result, row) ->
 *         result.setString(row, soundex(operands[0].getString(row))))
 * }</pre>
 *
 * <p>Stateless; one function is called by all threads. It is serialized with the job, with all that
 * it refers to.
 *
 * <p>An exception that it throws fails the job as any failing row does: an {@link
 * EvaluationException} names expression, row and values, has the exception as its cause, and comes
 * behind the rows before it. To find the row the function is called again for each alone: a row's
 * result depends on its operands alone.
 */
@PublicEvolving
@FunctionalInterface
public interface ColumnFunction extends HostFunction, Serializable {

  /** What one row's result is; serialized with the job. */
  @FunctionalInterface
  interface SerializableRowFunction extends RowFunction, Serializable {}

  /** Row by row. */
  static ColumnFunction ofRow(SerializableRowFunction function) {
    return (operands, result, rows) ->
        HostFunction.ofRow(function).evaluate(operands, result, rows);
  }
}
