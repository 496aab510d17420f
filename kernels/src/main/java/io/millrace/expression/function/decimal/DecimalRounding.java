// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.decimal;

import java.math.RoundingMode;

/** Rounding mode for dropped digits. */
enum DecimalRounding {
  HALF_UP(0, RoundingMode.HALF_UP),
  DOWN(1, RoundingMode.DOWN),
  FLOOR(2, RoundingMode.FLOOR),
  CEILING(3, RoundingMode.CEILING);

  private final int code;
  private final RoundingMode mode;

  DecimalRounding(int code, RoundingMode mode) {
    this.code = code;
    this.mode = mode;
  }

  /** The value of the enumerator with the same name in decimal.cuh. */
  int code() {
    return code;
  }

  RoundingMode mode() {
    return mode;
  }

  /**
   * Whether the magnitude of a quotient is rounded up.
   *
   * @param remainder remainder of the magnitudes, less than the divisor
   */
  boolean roundsUp(long remainder, long divisor, boolean negative) {
    return switch (this) {
      case HALF_UP -> remainder >= divisor - remainder;
      case DOWN -> false;
      case FLOOR -> negative && remainder != 0;
      case CEILING -> !negative && remainder != 0;
    };
  }
}
