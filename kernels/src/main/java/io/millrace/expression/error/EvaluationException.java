// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.error;

import io.millrace.annotation.PublicEvolving;

/**
 * Evaluation failed for a row, for example by a division by zero or an exception thrown by a
 * user-defined function (the cause). Every row before it in the table can be evaluated: the caller
 * may do so before failing.
 */
@PublicEvolving
public final class EvaluationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String failure;
  private final int row;
  private final String values;

  /**
   * @param failure the error and the expression: "division by zero in (x / y)"
   * @param row position of the row in the evaluated table
   * @param values the operand values: "7, 0"
   * @param cause the exception of a user-defined function; for a cast to a number, a time or a
   *     BOOLEAN, a {@link NumberFormatException}, a {@link java.time.format.DateTimeParseException}
   *     or a {@link ClassCastException}; an {@link InvalidArgumentException} for functions that say
   *     why; null for other errors
   */
  public EvaluationException(String failure, int row, String values, Throwable cause) {
    super(failure + " at row " + row + ": values " + values, cause);
    this.failure = failure;
    this.row = row;
    this.values = values;
  }

  /** Position of the row in the evaluated table. */
  public int row() {
    return row;
  }

  /** The error and the operand values, without the row. */
  public String reason() {
    return failure + ": values " + values;
  }

  /** The same failure for a larger table in which {@code rows} rows precede the evaluated table. */
  public EvaluationException behind(int rows) {
    return rows == 0 ? this : copy(row + rows, getCause());
  }

  /** The same failure with another cause. */
  public EvaluationException withCause(Throwable cause) {
    return copy(row, cause);
  }

  private EvaluationException copy(int newRow, Throwable cause) {
    EvaluationException copy = new EvaluationException(failure, newRow, values, cause);
    copy.setStackTrace(getStackTrace());
    for (Throwable suppressed : getSuppressed()) {
      copy.addSuppressed(suppressed);
    }
    return copy;
  }
}
