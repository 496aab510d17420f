package io.millrace.expression;

/**
 * A row for which an expression fails, such as by a division by zero. No row before it in its table
 * fails: the caller may evaluate those before it throws.
 */
public final class EvaluationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int row;

  EvaluationException(int row, String message) {
    super(message);
    this.row = row;
  }

  /** The row's position in the table that was evaluated. */
  public int row() {
    return row;
  }

  /** This failure, at a row that lies {@code rows} further on in a larger table. */
  public EvaluationException shifted(int rows) {
    return rows == 0 ? this : new EvaluationException(row + rows, getMessage());
  }
}
