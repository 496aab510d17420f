// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.text;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;
import java.math.BigInteger;

/**
 * Decimal numbers to the nearest floating-point number, ties to even. The twin of {@code
 * text_number.cuh}.
 *
 * <p>Lemire, "Number Parsing at a Gigabyte per Second" (2021); Mushtak and Lemire, "Fast Number
 * Parsing Without Fallback" (2022).
 */
@Internal
public enum FloatingPoint {
  FLOAT32(23, 127, -17, 10),
  FLOAT64(52, 1023, -4, 23);

  /** The bits are those of the nearest number. */
  public static final int EXACT = 0;

  /** The number is larger than the largest finite one. */
  public static final int TOO_LARGE = 1;

  /** The digits behind the first 19 decide how the number is rounded. */
  public static final int UNDECIDED = 2;

  private static final int MIN_POWER = -342;
  private static final int MAX_POWER = 308;
  private static final int POWER_BITS = 128;
  private static final int MIN_EXACT_RECIPROCAL = -27;

  // The highest 128 bits of each power of five, the high word first.
  private static final long[] POWERS = powers();

  private final int mantissaBits;
  private final int bias;
  private final int infinity;
  private final int leastTie;
  private final int mostTie;

  FloatingPoint(int mantissaBits, int bias, int leastTie, int mostTie) {
    this.mantissaBits = mantissaBits;
    this.bias = bias;
    this.infinity = 2 * bias + 1;
    this.leastTie = leastTie;
    this.mostTie = mostTie;
  }

  /** The format of 4 or 8 bytes. */
  public static FloatingPoint ofBytes(int bytes) {
    return bytes == Float.BYTES ? FLOAT32 : FLOAT64;
  }

  /** The number of words that {@link #writePowersOfFive} writes. */
  public static int powersOfFiveWords() {
    return POWERS.length;
  }

  /** Writes the table of powers of five, for a device. */
  public static void writePowersOfFive(long address) {
    HostMemory.copyFromArray(address, POWERS, POWERS.length);
  }

  private static long[] powers() {
    long[] powers = new long[2 * (MAX_POWER - MIN_POWER + 1)];
    BigInteger five = BigInteger.valueOf(5);
    for (int power = MIN_POWER; power <= MAX_POWER; power++) {
      BigInteger exact = five.pow(Math.abs(power));
      BigInteger bits = power >= 0 ? shiftTo128(exact) : reciprocal(exact, power);
      int at = 2 * (power - MIN_POWER);
      powers[at] = bits.shiftRight(Long.SIZE).longValue();
      powers[at + 1] = bits.longValue();
    }
    return powers;
  }

  // Rounded up as long as the reciprocal of 128 bits decides alone, then cut off.
  private static BigInteger reciprocal(BigInteger exact, int power) {
    int bits = exact.bitLength();
    int shift = power >= MIN_EXACT_RECIPROCAL ? bits + POWER_BITS - 1 : 2 * bits + POWER_BITS;
    return shiftTo128(BigInteger.ONE.shiftLeft(shift).divide(exact).add(BigInteger.ONE));
  }

  private static BigInteger shiftTo128(BigInteger value) {
    return value.shiftRight(value.bitLength() - POWER_BITS);
  }

  /** The bits of a number, with its sign; only valid if {@link #outcome} is not too large. */
  public long bits(NumberText number) {
    long bits = bits(number.significant(), number.exponent());
    return number.isNegative() ? bits | signBit() : bits;
  }

  /** {@link #EXACT}, {@link #TOO_LARGE} or {@link #UNDECIDED}. */
  public int outcome(NumberText number, long bits) {
    long magnitude = bits & ~signBit();
    if (number.hasMoreDigits() && magnitude != bits(number.significant() + 1, number.exponent())) {
      return UNDECIDED;
    }
    return magnitude >>> mantissaBits == infinity ? TOO_LARGE : EXACT;
  }

  /** The bits of a number of any length. */
  public long parse(String text) {
    return this == FLOAT32
        ? Float.floatToRawIntBits(Float.parseFloat(text))
        : Double.doubleToRawLongBits(Double.parseDouble(text));
  }

  public boolean isFinite(long bits) {
    return (bits & infinityBits(false)) != infinityBits(false);
  }

  private long signBit() {
    return (infinity + 1L) << mantissaBits;
  }

  public long nanBits() {
    return infinityBits(false) | 1L << (mantissaBits - 1);
  }

  public long infinityBits(boolean negative) {
    return (long) infinity << mantissaBits | (negative ? signBit() : 0);
  }

  private long bits(long significant, int exponent) {
    if (significant == 0 || exponent < MIN_POWER) {
      return 0;
    }
    if (exponent > MAX_POWER) {
      return infinityBits(false);
    }
    int zeros = Long.numberOfLeadingZeros(significant);
    long word = significant << zeros;
    int at = 2 * (exponent - MIN_POWER);
    long low = word * POWERS[at];
    long high = multiplyHigh(word, POWERS[at]);
    long undecided = -1L >>> (mantissaBits + 3);
    if ((high & undecided) == undecided) {
      long more = multiplyHigh(word, POWERS[at + 1]);
      low += more;
      if (Long.compareUnsigned(low, more) < 0) {
        high++;
      }
    }
    int upper = (int) (high >>> (Long.SIZE - 1));
    int shift = upper + Long.SIZE - mantissaBits - 3;
    long mantissa = high >>> shift;
    // The exponent of two of 10^exponent is floor(exponent * log2(10)).
    int binary = ((217706 * exponent) >> 16) + Long.SIZE - 1 + upper - zeros + bias;
    if (binary <= 0) {
      return 1 - binary >= Long.SIZE ? 0 : half(mantissa >>> (1 - binary));
    }
    boolean tie =
        Long.compareUnsigned(low, 1) <= 0
            && exponent >= leastTie
            && exponent <= mostTie
            && (mantissa & 3) == 1
            && mantissa << shift == high;
    mantissa = half(tie ? mantissa & ~1L : mantissa);
    if (mantissa >>> (mantissaBits + 1) != 0) {
      mantissa >>>= 1;
      binary++;
    }
    return binary >= infinity
        ? infinityBits(false)
        : (mantissa & ~(1L << mantissaBits)) | (long) binary << mantissaBits;
  }

  private static long half(long mantissa) {
    return (mantissa + (mantissa & 1)) >>> 1;
  }

  private static long multiplyHigh(long left, long right) {
    return Math.multiplyHigh(left, right)
        + ((left >> (Long.SIZE - 1)) & right)
        + ((right >> (Long.SIZE - 1)) & left);
  }
}
