// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.numeric;

/**
 * A number of about 106 bits as the sum of two doubles. The second is at most half a unit in the
 * last place of the first, unless stated otherwise. The twin of {@code math_double_double.cuh}.
 *
 * <p>Sources: T. J. Dekker, "A floating-point technique for extending the available precision",
 * 1971; D. E. Knuth for the sum.
 */
record DoubleDouble(double high, double low) {
  // 2^27 + 1
  private static final double SPLIT = 134217729.0;

  /** Returns a + b exactly. */
  static DoubleDouble ofSum(double a, double b) {
    double high = a + b;
    double rounded = high - a;
    return new DoubleDouble(high, (a - (high - rounded)) + (b - rounded));
  }

  /** Returns a * b exactly. */
  static DoubleDouble ofProduct(double a, double b) {
    double aHigh = SPLIT * a - (SPLIT * a - a);
    double aLow = a - aHigh;
    double bHigh = SPLIT * b - (SPLIT * b - b);
    double bLow = b - bHigh;
    double high = a * b;
    return new DoubleDouble(
        high, ((aHigh * bHigh - high) + aHigh * bLow + aLow * bHigh) + aLow * bLow);
  }

  /** Normalizes two doubles with {@code low <= high }. */
  static DoubleDouble normalized(double high, double low) {
    double sum = high + low;
    return new DoubleDouble(sum, low - (sum - high));
  }

  /** Adds {@code more}, which has the magnitude of the low part, without normalizing. */
  DoubleDouble plusLow(double more) {
    return new DoubleDouble(high, low + more);
  }

  DoubleDouble times(DoubleDouble factor) {
    DoubleDouble product = ofProduct(high, factor.high);
    return normalized(product.high, product.low + (high * factor.low + low * factor.high));
  }

  DoubleDouble dividedBy(DoubleDouble divisor) {
    double quotient = high / divisor.high;
    DoubleDouble product = ofProduct(quotient, divisor.high);
    double rest = ((high - product.high) - product.low) + low - quotient * divisor.low;
    return normalized(quotient, rest / divisor.high);
  }
}
