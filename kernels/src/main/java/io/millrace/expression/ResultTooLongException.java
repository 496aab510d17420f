package io.millrace.expression;

/** A function's result of bytes would have over 2 GiB. */
final class ResultTooLongException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ResultTooLongException() {
    super("a value has over 2 GiB");
  }
}
