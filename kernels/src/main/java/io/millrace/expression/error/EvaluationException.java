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
   * @param cause the exception of a user-defined function; for a cast to a number or a time, a
   *     {@link NumberFormatException} or a {@link java.time.format.DateTimeParseException}; null
   *     for other errors
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
    if (rows == 0) {
      return this;
    }
    EvaluationException behind = new EvaluationException(failure, row + rows, values, getCause());
    behind.setStackTrace(getStackTrace());
    for (Throwable suppressed : getSuppressed()) {
      behind.addSuppressed(suppressed);
    }
    return behind;
  }
}
