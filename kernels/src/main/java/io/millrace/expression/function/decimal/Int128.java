// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.decimal;

import io.millrace.expression.vector.HostVector;
import java.math.BigInteger;

/**
 * A mutable 128-bit two's complement integer, the unscaled value of a decimal. One object serves a
 * whole vector, so that rows allocate nothing.
 */
final class Int128 {
  private static final int MAX_PRECISION = 38;
  private static final int LONG_DIGITS = 18;
  private static final long[] POWERS = new long[LONG_DIGITS + 1];
  private static final long[] POWERS_LOW = new long[MAX_PRECISION + 1];
  private static final long[] POWERS_HIGH = new long[MAX_PRECISION + 1];
  private static final long LOW_HALF = 0xffff_ffffL;
  private static final long HALF_BASE = 1L << Integer.SIZE;

  static {
    for (int i = 0; i <= MAX_PRECISION; i++) {
      BigInteger power = BigInteger.TEN.pow(i);
      POWERS_LOW[i] = power.longValue();
      POWERS_HIGH[i] = power.shiftRight(Long.SIZE).longValue();
    }
    System.arraycopy(POWERS_LOW, 0, POWERS, 0, POWERS.length);
  }

  private long low;
  private long high;

  /** Power of ten for an {@code exponent} of 0 to 18. */
  static long powerOfTen(int exponent) {
    return POWERS[exponent];
  }

  long low() {
    return low;
  }

  long high() {
    return high;
  }

  void set(long newLow, long newHigh) {
    low = newLow;
    high = newHigh;
  }

  void set(long value) {
    set(value, value >> (Long.SIZE - 1));
  }

  /** Sets this to a power of ten for an {@code exponent} of 0 to 38. */
  void setPowerOfTen(int exponent) {
    set(POWERS_LOW[exponent], POWERS_HIGH[exponent]);
  }

  /** Loads a row of a DECIMAL128 vector. */
  void load(HostVector vector, int row) {
    set(vector.longs()[row], vector.secondParts()[row]);
  }

  /**
   * Stores this into a row of a DECIMAL128 vector; null if it has more than {@code precision}
   * digits.
   */
  void store(HostVector vector, int row, int precision) {
    if (exceeds(precision)) {
      vector.setNull(row);
    } else {
      vector.longs()[row] = low;
      vector.secondParts()[row] = high;
    }
  }

  /** Whether this and its negation fit a long. */
  boolean fitsLong() {
    return high == low >> (Long.SIZE - 1) && low != Long.MIN_VALUE;
  }

  /** Whether this has more than {@code precision} digits. */
  boolean exceeds(int precision) {
    long sign = high >> (Long.SIZE - 1);
    long absoluteLow = (low ^ sign) - sign;
    long absoluteHigh = (high ^ sign) + (sign != 0 && low == 0 ? 1 : 0);
    long powerHigh = POWERS_HIGH[precision];
    return absoluteHigh != powerHigh
        ? Long.compareUnsigned(absoluteHigh, powerHigh) > 0
        : Long.compareUnsigned(absoluteLow, POWERS_LOW[precision]) >= 0;
  }

  void negate() {
    high = ~high + (low == 0 ? 1 : 0);
    low = -low;
  }

  /** Adds {@code other}. Returns false and leaves this unchanged if the sum overflows 128 bits. */
  boolean add(Int128 other) {
    long sumLow = low + other.low;
    long carry = Long.compareUnsigned(sumLow, low) < 0 ? 1 : 0;
    long sumHigh = high + other.high + carry;
    if (((high ^ sumHigh) & (other.high ^ sumHigh)) < 0) {
      return false;
    }
    set(sumLow, sumHigh);
    return true;
  }

  void setProduct(long a, long b) {
    set(a * b, Math.multiplyHigh(a, b));
  }

  /**
   * Appends decimal zeros. Returns false and leaves this unchanged if the result might overflow 128
   * bits.
   */
  boolean appendZeros(int digits) {
    if (digits == 0) {
      return true;
    }
    if (digits > LONG_DIGITS || !fitsLong()) {
      return false;
    }
    setProduct(low, POWERS[digits]);
    return true;
  }

  /** Drops up to 18 trailing decimal digits. */
  void dropDigits(int digits, DecimalRounding rounding) {
    if (digits > 0) {
      boolean negative = high < 0;
      if (negative) {
        negate();
      }
      long divisor = POWERS[digits];
      long remainder = divide(divisor);
      if (rounding.roundsUp(remainder, divisor, negative) && ++low == 0) {
        high++;
      }
      if (negative) {
        negate();
      }
    }
  }

  int compareTo(Int128 other) {
    int order = Long.compare(high, other.high);
    return order != 0 ? order : Long.compareUnsigned(low, other.low);
  }

  /** Divides this non-negative number and returns the remainder. */
  long divide(long positiveDivisor) {
    if (high == 0 && low >= 0) {
      long dividend = low;
      low = dividend / positiveDivisor;
      return dividend - low * positiveDivisor;
    }
    long upper = high % positiveDivisor;
    high /= positiveDivisor;
    return divideLow(upper, positiveDivisor);
  }

  /**
   * Sets {@link #low} to (upper * 2^64 + low) / divisor, by Knuth's algorithm D with 32-bit digits.
   *
   * @param upper less than the divisor
   */
  private long divideLow(long upper, long positiveDivisor) {
    int shift = Long.numberOfLeadingZeros(positiveDivisor);
    long divisor = positiveDivisor << shift;
    long normalizedUpper = upper << shift | low >>> 1 >>> (Long.SIZE - 1 - shift);
    long normalizedLow = low << shift;
    long first = quotientDigit(normalizedUpper, normalizedLow >>> Integer.SIZE, divisor);
    long rest =
        (normalizedUpper << Integer.SIZE | normalizedLow >>> Integer.SIZE) - first * divisor;
    long second = quotientDigit(rest, normalizedLow & LOW_HALF, divisor);
    low = (first << Integer.SIZE) + second;
    return ((rest << Integer.SIZE | (normalizedLow & LOW_HALF)) - second * divisor) >>> shift;
  }

  /** Returns (upper * 2^32 + next) / divisor; the highest bit of the divisor is set. */
  private static long quotientDigit(long upper, long next, long divisor) {
    long divisorHigh = divisor >>> Integer.SIZE;
    long divisorLow = divisor & LOW_HALF;
    long digit = Long.divideUnsigned(upper, divisorHigh);
    long rest = upper - digit * divisorHigh;
    while (rest < HALF_BASE
        && (digit >= HALF_BASE
            || Long.compareUnsigned(digit * divisorLow, rest << Integer.SIZE | next) > 0)) {
      digit--;
      rest += divisorHigh;
    }
    return digit;
  }
}
