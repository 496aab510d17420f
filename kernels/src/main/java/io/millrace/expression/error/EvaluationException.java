// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.error;

import io.millrace.annotation.PublicEvolving;

/**
 * A row for which an expression fails, such as by a division by zero, or by an exception of a
 * user's function, which is the cause then. No row before it in its table fails: the caller may
 * evaluate those before it throws.
 */
@PublicEvolving
public final class EvaluationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String failure;
  private final int row;
  private final String values;

  /**
   * @param failure what failed: "division by zero in (x / y)"
   * @param row its position in the table that was evaluated
   * @param values of the operands: "7, 0"
   * @param cause what a user's function threw; null if none did
   */
  public EvaluationException(String failure, int row, String values, Throwable cause) {
    super(failure + " at row " + row + ": values " + values, cause);
    this.failure = failure;
    this.row = row;
    this.values = values;
  }

  /** The row's position in the table that was evaluated. */
  public int row() {
    return row;
  }

  /** What failed, and for which values; without the row. */
  public String reason() {
    return failure + ": values " + values;
  }

  /** This failure in a larger table, in which {@code rows} rows lie before the one evaluated. */
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
