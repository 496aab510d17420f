// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.copy;

import java.nio.ByteBuffer;

/**
 * An unscaled decimal of 128 bits to and from the digits of PostgreSQL's {@code numeric}, which are
 * digits to the base of 10000 on both sides of the point. Used by one thread, for one value after
 * the other.
 */
final class Numeric {
  private static final int BASE = 10_000;
  private static final int DIGITS = 4;
  private static final int[] POWERS = {1, 10, 100, 1000, BASE};
  private static final int POSITIVE = 0x0000;
  private static final int NEGATIVE = 0x4000;
  private static final int HEADER_BYTES = 4 * Short.BYTES;
  // 38 decimal digits, with an incomplete group at each end.
  private static final int MAX_GROUPS = 11;
  private static final long LOW_INT = 0xffff_ffffL;

  private final int[] groups = new int[MAX_GROUPS];
  private long high;
  private long low;

  /** The upper 64 bits of the value that was {@linkplain #read read}. */
  long high() {
    return high;
  }

  /** The lower 64 bits of the value that was {@linkplain #read read}. */
  long low() {
    return low;
  }

  /** Appends length and value of a decimal with {@code scale} digits behind the point. */
  void write(long unscaledHigh, long unscaledLow, int scale, CopyBuffer out) {
    high = unscaledHigh;
    low = unscaledLow;
    boolean isNegative = high < 0;
    if (isNegative) {
      negate();
    }
    // The last group may have fewer digits before it is filled up with zeros.
    int lastDigits = scale % DIGITS == 0 ? DIGITS : scale % DIGITS;
    int count = 0;
    while (high != 0 || low != 0) {
      groups[count] = count == 0 ? divide(POWERS[lastDigits]) : divide(BASE);
      count++;
    }
    groups[0] *= POWERS[DIGITS - lastDigits];
    int fractionGroups = (scale + DIGITS - 1) / DIGITS;
    out.putInt(HEADER_BYTES + count * Short.BYTES);
    out.putShort(count);
    out.putShort(count == 0 ? 0 : count - fractionGroups - 1);
    out.putShort(isNegative ? NEGATIVE : POSITIVE);
    out.putShort(scale);
    for (int i = count - 1; i >= 0; i--) {
      out.putShort(groups[i]);
    }
  }

  /**
   * Reads a value, which {@link #high} and {@link #low} have afterwards.
   *
   * @param in at the value, without its length
   * @throws IllegalArgumentException if it is NaN or infinite, or does not fit DECIMAL(precision,
   *     scale) exactly
   */
  void read(ByteBuffer in, int precision, int scale) {
    int count = in.getShort();
    int weight = in.getShort();
    int sign = in.getShort() & 0xffff;
    in.getShort(); // the digits to display behind the point
    if (sign != POSITIVE && sign != NEGATIVE) {
      throw new IllegalArgumentException("a DECIMAL cannot be NaN or infinite");
    }
    high = 0;
    low = 0;
    int exponent = 0;
    for (int i = 0; i < count; i++) {
      int group = in.getShort();
      exponent = (weight - i) * DIGITS;
      if (i == 0 && decimalDigits(group) + exponent + scale > precision) {
        throw doesNotFit(precision, scale);
      }
      int dropped = Math.min(DIGITS, Math.max(0, -exponent - scale));
      if (group % POWERS[dropped] != 0) {
        throw doesNotFit(precision, scale);
      }
      multiplyAdd(POWERS[DIGITS - dropped], group / POWERS[dropped]);
    }
    for (int zeros = count == 0 ? 0 : exponent + scale; zeros > 0; zeros -= DIGITS) {
      multiplyAdd(POWERS[Math.min(DIGITS, zeros)], 0);
    }
    if (sign == NEGATIVE) {
      negate();
    }
  }

  private static IllegalArgumentException doesNotFit(int precision, int scale) {
    return new IllegalArgumentException(
        "a numeric does not fit DECIMAL(" + precision + ", " + scale + ")");
  }

  private static int decimalDigits(int group) {
    return group >= 1000 ? 4 : group >= 100 ? 3 : group >= 10 ? 2 : 1;
  }

  private void negate() {
    low = -low;
    high = low == 0 ? -high : ~high;
  }

  /** Divides the value, which is not negative, and returns the remainder. */
  private int divide(int divisor) {
    if (high == 0 && low >= 0) {
      int remainder = (int) (low % divisor);
      low /= divisor;
      return remainder;
    }
    long part = high >>> Integer.SIZE;
    long quotientHigh = (part / divisor) << Integer.SIZE;
    part = ((part % divisor) << Integer.SIZE) | (high & LOW_INT);
    quotientHigh |= part / divisor;
    part = ((part % divisor) << Integer.SIZE) | (low >>> Integer.SIZE);
    long quotientLow = (part / divisor) << Integer.SIZE;
    part = ((part % divisor) << Integer.SIZE) | (low & LOW_INT);
    quotientLow |= part / divisor;
    high = quotientHigh;
    low = quotientLow;
    return (int) (part % divisor);
  }

  private void multiplyAdd(int factor, int summand) {
    long part = (low & LOW_INT) * factor + summand;
    long lowest = part & LOW_INT;
    part = (low >>> Integer.SIZE) * factor + (part >>> Integer.SIZE);
    low = (part << Integer.SIZE) | lowest;
    part = (high & LOW_INT) * factor + (part >>> Integer.SIZE);
    lowest = part & LOW_INT;
    part = (high >>> Integer.SIZE) * factor + (part >>> Integer.SIZE);
    high = (part << Integer.SIZE) | lowest;
  }
}
