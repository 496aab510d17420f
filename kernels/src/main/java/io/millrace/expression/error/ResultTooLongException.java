package io.millrace.expression.error;

/** A function's result of bytes would have over 2 GiB. */
public final class ResultTooLongException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ResultTooLongException() {
    super("a value has over 2 GiB");
  }
}
