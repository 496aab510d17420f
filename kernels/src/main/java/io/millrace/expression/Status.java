package io.millrace.expression;

/** What a function says of one row; device functions return the ordinal. */
public enum Status {
  VALUE(""),
  NULL("null"),
  DIVISION_BY_ZERO("division by zero"),
  INVALID_CAST("the value cannot be cast"),
  INVALID_ARGUMENT("the function has no such argument"),
  /** The device cannot compute this row exactly; the host can. */
  NEEDS_HOST("the row needs the host");

  private final String description;

  Status(String description) {
    this.description = description;
  }

  /** For messages. */
  public String description() {
    return description;
  }

  /** Whether the row fails the job, on whichever device it is. */
  public boolean isFailure() {
    return this == DIVISION_BY_ZERO || this == INVALID_CAST || this == INVALID_ARGUMENT;
  }
}
