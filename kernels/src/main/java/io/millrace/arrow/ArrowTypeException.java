package io.millrace.arrow;

/** An Arrow type is not supported, or is not the one that a call needs. */
public final class ArrowTypeException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public ArrowTypeException(String message) {
    super(message);
  }
}
