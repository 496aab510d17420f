// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.numeric;

import io.millrace.annotation.Internal;
import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * ROUND and TRUNCATE of floating-point numbers. Flink rounds the decimal that {@link
 * Double#toString(double)} prints; this class gives the same results and avoids that decimal where
 * possible.
 *
 * <p>The printed decimal lies in the interval of numbers that round to the double. A decimal of at
 * most 15 digits and below 2^53 is what is printed for the double nearest to it. So the printed
 * decimal is at or above such a boundary exactly if the double is at or above the double nearest to
 * the boundary, which one correctly rounded division or multiplication gives. {@code
 * math_rounding.cuh} does the same and leaves the other boundaries to this class.
 */
@Internal
public final class DoubleRounding {
  /** Number of digits at which Java's {@code BigInteger} fails to compute the power of ten. */
  public static final int TOO_MANY_DIGITS = 536_870_920;

  // TRUNCATE accepts only smaller numbers.
  private static final double TRUNCATE_LIMIT = 1e20;

  private static final int LARGEST_POWER_OF_TEN = 22;
  private static final double CERTAIN_DIGITS = 1e14;
  private static final double EXACT_HALVES = 0x1p51;
  private static final double EXACT_INTEGERS = 0x1p53;
  private static final double PRINTED_DIGITS = 1e18;
  private static final double UNDECIDED = Double.NaN;

  // No double has more digits before or after the decimal point.
  private static final int MAX_DIGITS = 400;
  private static final int TRUNCATE_SCALE = 18;
  private static final int LONG_DIGITS = 19;

  private static final long BITS_BELOW_FLOAT = 0x1fffffffL;
  private static final long HALF_FLOAT = 0x10000000L;

  private static final double[] POWERS_OF_TEN = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22
  };

  private DoubleRounding() {}

  /** Whether {@link #round(double, int)} has a result in Flink. */
  public static boolean canRound(double x, int digits) {
    return Double.isFinite(x)
        && (x == 0 || (digits < TOO_MANY_DIGITS && digits > -TOO_MANY_DIGITS));
  }

  /** Whether {@link #truncate(double, int)} has a result in Flink. */
  public static boolean canTruncate(double x, int digits) {
    return Math.abs(x) < TRUNCATE_LIMIT
        && (digits > -TOO_MANY_DIGITS || truncateDecimal(x, TRUNCATE_SCALE).signum() == 0);
  }

  /** Rounds a finite number half away from zero to {@code digits} fraction digits. */
  public static double round(double x, int digits) {
    double rounded = decideRound(x, digits);
    return Double.isNaN(rounded) ? roundDecimal(x, digits).doubleValue() : rounded;
  }

  /** Float version of {@link #round(double, int)}. */
  public static float round(float x, int digits) {
    double rounded = decideRound(x, digits);
    boolean isBetweenFloats =
        (Double.doubleToRawLongBits(rounded) & BITS_BELOW_FLOAT) == HALF_FLOAT && digits != 0;
    return Double.isNaN(rounded) || isBetweenFloats
        ? roundDecimal(x, digits).floatValue()
        : (float) rounded;
  }

  /** Truncates a number below 1E20 to {@code digits} fraction digits. */
  public static double truncate(double x, int digits) {
    double truncated = decideTruncate(x, digits);
    return Double.isNaN(truncated) ? truncateDecimal(x, digits).doubleValue() : truncated;
  }

  private static BigDecimal roundDecimal(double x, int digits) {
    int scale = Math.max(-MAX_DIGITS, Math.min(MAX_DIGITS, digits));
    return BigDecimal.valueOf(x).setScale(scale, RoundingMode.HALF_UP);
  }

  private static BigDecimal truncateDecimal(double x, int digits) {
    BigDecimal decimal = BigDecimal.valueOf(x).setScale(TRUNCATE_SCALE, RoundingMode.HALF_UP);
    int scale = Math.max(-MAX_DIGITS, Math.min(TRUNCATE_SCALE, digits));
    return decimal.setScale(scale, RoundingMode.DOWN);
  }

  private static double decideRound(double x, int digits) {
    double magnitude = Math.abs(x);
    if (digits >= 0 && magnitude == Math.floor(magnitude)) {
      return x + 0.0;
    }
    if (digits < -LARGEST_POWER_OF_TEN || digits > LARGEST_POWER_OF_TEN) {
      return UNDECIDED;
    }
    double scaled = scaleByPowerOfTen(magnitude, digits);
    if (scaled >= PRINTED_DIGITS) {
      return x;
    }
    if (scaled >= EXACT_HALVES) {
      return UNDECIDED;
    }
    double whole = Math.floor(scaled);
    double half = nearestDouble(2.0 * whole + 1.0, 2.0, digits);
    boolean isUncertain = scaled >= CERTAIN_DIGITS || magnitude >= EXACT_INTEGERS;
    if (magnitude == half && isUncertain) {
      return UNDECIDED;
    }
    return withSignOf(nearestDouble(magnitude >= half ? whole + 1.0 : whole, 1.0, digits), x);
  }

  private static double decideTruncate(double x, int digits) {
    double magnitude = Math.abs(x);
    if (digits >= 0 && magnitude == Math.floor(magnitude)) {
      return x + 0.0;
    }
    if (digits < -LARGEST_POWER_OF_TEN || digits >= TRUNCATE_SCALE) {
      return UNDECIDED;
    }
    double scaled = scaleByPowerOfTen(magnitude, digits);
    if (scaled >= PRINTED_DIGITS) {
      return x;
    }
    if (scaled >= CERTAIN_DIGITS || (digits < 0 && magnitude >= EXACT_INTEGERS)) {
      return UNDECIDED;
    }
    double whole = Math.floor(scaled);
    if (nearestDouble(whole, 1.0, digits) > magnitude) {
      whole -= 1.0;
    } else if (nearestDouble(whole + 1.0, 1.0, digits) <= magnitude) {
      whole += 1.0;
    }
    // The decimal may round up to the next boundary at its eighteenth digit.
    boolean mayRoundUp =
        magnitude < 1.0 && nearestDouble(whole + 1.0, 1.0, digits) - magnitude < 1e-17;
    return mayRoundUp ? UNDECIDED : withSignOf(nearestDouble(whole, 1.0, digits), x);
  }

  // The double nearest to numerator / divisor * 10^-digits, for an integer numerator below 2^53 and
  // a divisor of 1 or 2.
  private static double nearestDouble(double numerator, double divisor, int digits) {
    return digits >= 0
        ? numerator / (divisor * POWERS_OF_TEN[digits])
        : numerator * (POWERS_OF_TEN[-digits] / divisor);
  }

  private static double scaleByPowerOfTen(double magnitude, int digits) {
    return digits >= 0 ? magnitude * POWERS_OF_TEN[digits] : magnitude / POWERS_OF_TEN[-digits];
  }

  private static double withSignOf(double magnitude, double x) {
    return x < 0.0 && magnitude != 0.0 ? -magnitude : magnitude;
  }

  /** Rounds an integer half away from zero to {@code digits} fraction digits; overflow wraps. */
  public static long round(long x, int digits) {
    if (digits >= 0) {
      return x;
    }
    if (digits < -LONG_DIGITS) {
      return 0;
    }
    long power = powerOfTen(-digits);
    long magnitude = x < 0 ? -x : x;
    long rest = Long.remainderUnsigned(magnitude, power);
    boolean roundsUp = Long.compareUnsigned(rest, power - rest) >= 0;
    long rounded = roundsUp ? magnitude + (power - rest) : magnitude - rest;
    return x < 0 ? -rounded : rounded;
  }

  /** Sets the last {@code -digits} decimal digits of an integer to zero. */
  public static long truncate(long x, int digits) {
    if (digits >= 0) {
      return x;
    }
    return digits <= -LONG_DIGITS ? 0 : x - x % powerOfTen(-digits);
  }

  // 10^19 fits an unsigned long.
  private static long powerOfTen(int exponent) {
    long power = 1;
    for (int i = 0; i < exponent; i++) {
      power *= 10;
    }
    return power;
  }
}
