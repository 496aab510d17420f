package io.millrace.expression;

/** An expression that cannot be: an unknown column or function, or types that do not fit. */
public final class ExpressionException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public ExpressionException(String message) {
    super(message);
  }
}
