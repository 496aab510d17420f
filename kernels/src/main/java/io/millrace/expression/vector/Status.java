// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.vector;

import io.millrace.annotation.PublicEvolving;

/** Outcome of a function for one row; device functions return its code. */
@PublicEvolving
public enum Status {
  VALUE(0, ""),
  NULL(1, "null"),
  DIVISION_BY_ZERO(2, "division by zero"),
  INVALID_CAST(3, "the value cannot be cast"),
  INVALID_ARGUMENT(4, "invalid argument"),
  /** The device cannot compute this row exactly; the host can. */
  NEEDS_HOST(5, "the row needs the host"),
  /** Reported by the host only: the device reserves memory for results that fit. */
  RESULT_TOO_LONG(6, "the result exceeds 2 GiB"),
  /** Reported by the host only, for user-defined functions. */
  FUNCTION_THREW(7, "the function threw an exception");

  private final int code;
  private final String description;

  Status(int code, String description) {
    this.code = code;
    this.description = description;
  }

  /** The code that a device function returns. */
  public int code() {
    return code;
  }

  /** Text for messages. */
  public String description() {
    return description;
  }
}
