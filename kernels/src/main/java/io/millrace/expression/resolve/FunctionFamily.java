// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;

/** Families of functions, one page of the function reference each. */
@Internal
public enum FunctionFamily {
  COMPARISON("Comparison"),
  LOGICAL("Logic"),
  CONDITIONAL("Conditions"),
  ARITHMETIC("Arithmetic and mathematics"),
  STRING("Strings"),
  PATTERN("Patterns"),
  TEMPORAL("Date and time"),
  DIGEST("Digests"),
  JSON("JSON"),
  NESTED("Arrays, maps and rows"),
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
