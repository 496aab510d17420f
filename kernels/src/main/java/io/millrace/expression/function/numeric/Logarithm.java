// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.numeric;

import io.millrace.annotation.Internal;

/**
 * Logarithms with about 64 bits of precision, so that the rounded result is the nearest double in
 * all but one of several thousand cases. The twin of {@code math_logarithm.cuh}. {@link
 * StrictMath#log10} differs from {@link Math#log10} by up to two units in the last place, and
 * quotients of {@link StrictMath#log} by up to three from quotients of {@link Math#log}, which
 * Flink computes.
 *
 * <p>x = 2^k m with m in [sqrt(1/2), sqrt(2)]; ln(m) = 2 artanh(s) with s = (m - 1) / (m + 1), by
 * its power series.
 */
@Internal
public final class Logarithm {
  private static final DoubleDouble LN_2 = new DoubleDouble(0.6931471805599453, 0.0);
  // ln(2) in two parts; the product of the first part and an exponent is exact.
  private static final double LN_2_HIGH = 0.6931471803691238;
  private static final double LN_2_LOW = 1.9082149292705877e-10;
  private static final DoubleDouble INVERSE_LN_10 =
      new DoubleDouble(0.4342944819032518, 1.098319650216765e-17);
  private static final double TWO_THIRDS_HIGH = 0.6666666666666666;
  private static final double TWO_THIRDS_LOW = 3.700743415417188e-17;
  private static final int LAST_TERM = 23;

  private static final int EXPONENT_BIAS = 1023;
  private static final int FRACTION_BITS = 52;
  private static final long FRACTION_MASK = (1L << FRACTION_BITS) - 1;
  // The first 20 fraction bits of sqrt(2).
  private static final long SQRT_2_FRACTION = 0x6a09eL << 32;

  // Another algorithm may round a number this close to the middle of two doubles in either
  // direction.
  private static final double UNCERTAINTY = 1.001;

  private Logarithm() {}

  public static double natural(double x) {
    return of(x).high();
  }

  public static double decimal(double x) {
    DoubleDouble logarithm = of(x);
    return Double.isFinite(logarithm.high())
        ? logarithm.times(INVERSE_LN_10).high()
        : logarithm.high();
  }

  /** ln(x) / ln(2), both rounded to double. */
  public static double binary(double x) {
    return quotient(of(x), LN_2);
  }

  /** ln(x) / ln(base), both rounded to double. */
  public static double toBase(double base, double x) {
    return quotient(of(x), of(base));
  }

  private static DoubleDouble of(double x) {
    if (!(x > 0.0) || x == Double.POSITIVE_INFINITY) {
      double special = x < 0.0 ? Double.NaN : x == 0.0 ? Double.NEGATIVE_INFINITY : x;
      return new DoubleDouble(special, 0.0);
    }
    boolean isSubnormal = x < Double.MIN_NORMAL;
    long bits = Double.doubleToRawLongBits(isSubnormal ? x * 0x1p54 : x);
    long fraction = bits & FRACTION_MASK;
    int above = fraction >= SQRT_2_FRACTION ? 1 : 0;
    double exponent = (bits >> FRACTION_BITS) - EXPONENT_BIAS + above - (isSubnormal ? 54 : 0);
    double m = Double.longBitsToDouble(fraction | (long) (EXPONENT_BIAS - above) << FRACTION_BITS);
    DoubleDouble s = new DoubleDouble(m - 1.0, 0.0).dividedBy(DoubleDouble.ofSum(m, 1.0));
    DoubleDouble square = s.times(s);
    DoubleDouble coefficient =
        DoubleDouble.ofSum(TWO_THIRDS_HIGH, artanhRemainder(square.high())).plusLow(TWO_THIRDS_LOW);
    DoubleDouble series = square.times(coefficient);
    DoubleDouble reduced = s.times(DoubleDouble.ofSum(2.0, series.high()).plusLow(series.low()));
    DoubleDouble sum = DoubleDouble.ofSum(exponent * LN_2_HIGH, reduced.high());
    return DoubleDouble.normalized(sum.high(), sum.low() + (reduced.low() + exponent * LN_2_LOW));
  }

  // (2 artanh(s) / s - 2) / s^2 - 2 / 3, as a function of the square of s.
  private static double artanhRemainder(double square) {
    double sum = 2.0 / LAST_TERM;
    for (int term = LAST_TERM - 2; term >= 5; term -= 2) {
      sum = 2.0 / term + square * sum;
    }
    return square * sum;
  }

  // A logarithm that another algorithm may round in either direction stays unrounded, so that the
  // quotient is close to both.
  private static double quotient(DoubleDouble dividend, DoubleDouble divisor) {
    DoubleDouble a = roundedIfCertain(dividend);
    DoubleDouble b = roundedIfCertain(divisor);
    double quotient = a.high() / b.high();
    boolean isExact = a.low() == 0.0 && b.low() == 0.0;
    boolean isFinite = Double.isFinite(quotient) && Double.isFinite(b.high());
    return isExact || !isFinite ? quotient : a.dividedBy(b).high();
  }

  private static DoubleDouble roundedIfCertain(DoubleDouble logarithm) {
    boolean isCertain = logarithm.high() + logarithm.low() * UNCERTAINTY == logarithm.high();
    return isCertain ? new DoubleDouble(logarithm.high(), 0.0) : logarithm;
  }
}
