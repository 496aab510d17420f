package io.millrace.expression.resolve;

/** Which page of the function reference a function is on. */
public enum FunctionFamily {
  COMPARISON("Comparison"),
  LOGICAL("Logic"),
  CONDITIONAL("Conditions"),
  ARITHMETIC("Arithmetic and mathematics"),
  STRING("Strings"),
  PATTERN("Patterns"),
  TEMPORAL("Date and time"),
  DIGEST("Digests"),
  CAST("Casts"),
  USER_DEFINED("User-defined");

  private final String title;

  FunctionFamily(String title) {
    this.title = title;
  }

  public String title() {
    return title;
  }
}
