// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.device.HostMemory;
import java.math.BigInteger;

/**
 * Floating-point numbers as text: the shortest decimal that is nearest to no other number, and of
 * those the nearest one, in the form of {@link Double#toString(double)}. That is what Java writes
 * from release 19 on; earlier releases write more digits of some numbers. The twin of {@code
 * float_writer.cuh}. Reused for each number by one thread.
 *
 * <p>R. Giulietti, "The Schubfach way to render doubles" (2020).
 */
final class FloatWriter {
  private static final Format FLOAT = new Format(24, -149, 8, 8);
  private static final Format DOUBLE = new Format(53, -1074, 11, 3);

  private static final int MIN_POWER = -292;
  private static final int MAX_POWER = 324;
  private static final int POWER_BITS = 126;
  private static final long LOW_63_BITS = Long.MAX_VALUE;
  private static final long[] POWERS = powersOfTen();

  private static final long WORD_ZERO = 0x302e30;
  private static final long WORD_NAN = 0x4e614e;
  private static final long WORD_INFINITY = 0x7974696e69666e49L;
  private static final int MAX_PLAIN_DIGITS = 7;
  private static final int MAX_PLAIN_ZEROS = 2;

  private final NumberWriter digits;

  // The shortest decimal.
  private long significand;
  private int exponent;

  /**
   * @param precision bits of the significand, with the hidden one
   * @param minExponent of a significand that is an integer
   * @param exponentBits in the form of bits
   * @param tiny significands below it give one digit
   */
  private record Format(int precision, int minExponent, int exponentBits, int tiny) {
    long hiddenBit() {
      return 1L << (precision - 1);
    }
  }

  /**
   * @param digits which this uses, too
   */
  FloatWriter(NumberWriter digits) {
    this.digits = digits;
  }

  // The highest 126 bits of each power, rounded up, as two words of 63 bits, the high one first.
  private static long[] powersOfTen() {
    long[] words = new long[2 * (MAX_POWER - MIN_POWER + 1)];
    for (int power = MIN_POWER; power <= MAX_POWER; power++) {
      BigInteger ten = BigInteger.TEN.pow(Math.abs(power));
      BigInteger bits;
      if (power >= 0) {
        int shift = POWER_BITS - ten.bitLength();
        bits = shift >= 0 ? ten.shiftLeft(shift) : ten.shiftRight(-shift);
      } else {
        bits = BigInteger.ONE.shiftLeft(POWER_BITS - 1 + ten.bitLength()).divide(ten);
      }
      BigInteger above = bits.add(BigInteger.ONE);
      int at = 2 * (power - MIN_POWER);
      words[at] = above.shiftRight(Long.SIZE - 1).longValueExact();
      words[at + 1] = above.longValue() & LOW_63_BITS;
    }
    return words;
  }

  /** Bytes of the powers of ten that kernels use. */
  static int powerBytes() {
    return POWERS.length * Long.BYTES;
  }

  /** Writes the powers of ten to host memory. */
  static void writePowers(long address) {
    HostMemory.copyFromArray(address, POWERS, POWERS.length);
  }

  /**
   * Puts a number.
   *
   * @param isQuoted whether NaN and the infinities are between quotes
   */
  void putFloat(TextSink sink, int bits, boolean isQuoted) {
    put(sink, FLOAT, Integer.toUnsignedLong(bits), isQuoted);
  }

  /** As {@link #putFloat}. */
  void putDouble(TextSink sink, long bits, boolean isQuoted) {
    put(sink, DOUBLE, bits, isQuoted);
  }

  private void put(TextSink sink, Format format, long bits, boolean isQuoted) {
    long fraction = bits & (format.hiddenBit() - 1);
    int limit = (1 << format.exponentBits) - 1;
    int exponentBits = (int) (bits >>> (format.precision - 1)) & limit;
    boolean isNegative = (bits >>> (format.precision - 1 + format.exponentBits) & 1) != 0;
    if (exponentBits == limit) {
      putNotFinite(sink, fraction != 0, isNegative, isQuoted);
      return;
    }
    if (isNegative) {
      sink.put('-');
    }
    if (exponentBits == 0 && fraction == 0) {
      sink.put(WORD_ZERO, 3);
    } else {
      findShortest(format, exponentBits, fraction);
      putShortest(sink);
    }
  }

  private static void putNotFinite(
      TextSink sink, boolean isNan, boolean isNegative, boolean isQuoted) {
    if (isQuoted) {
      sink.put('"');
    }
    if (isNan) {
      sink.put(WORD_NAN, 3);
    } else {
      if (isNegative) {
        sink.put('-');
      }
      sink.put(WORD_INFINITY, Long.BYTES);
    }
    if (isQuoted) {
      sink.put('"');
    }
  }

  private void findShortest(Format format, int exponentBits, long fraction) {
    boolean isNormal = exponentBits != 0;
    int halves = (isNormal ? 1 - exponentBits : 0) - format.minExponent;
    long bits = isNormal ? fraction | format.hiddenBit() : fraction;
    if (isNormal && halves > 0 && halves < format.precision && bits >>> halves << halves == bits) {
      significand = bits >>> halves;
      exponent = 0;
      return;
    }
    boolean isTiny = bits < format.tiny;
    findShortestOf(format, isTiny ? 10 * bits : bits, -halves);
    exponent -= isTiny ? 1 : 0;
  }

  // Of bits * 2^binaryExponent.
  private void findShortestOf(Format format, long bits, int binaryExponent) {
    boolean isRegular = bits != format.hiddenBit() || binaryExponent == format.minExponent;
    long odd = bits & 1;
    long thirds = isRegular ? 0 : -274_743_187_321L;
    exponent = (int) ((binaryExponent * 661_971_961_083L + thirds) >> 41);
    int scale = binaryExponent + (int) ((-exponent * 913_124_641_741L) >> 38) + 2;
    int pair = 2 * (-exponent - MIN_POWER);
    long high = POWERS[pair];
    long low = POWERS[pair + 1];
    long middle = bits << 2;
    long value = roundToOdd(high, low, middle << scale);
    long lower = roundToOdd(high, low, (middle - (isRegular ? 2 : 1)) << scale) + odd;
    long upper = roundToOdd(high, low, (middle + 2) << scale) - odd;
    long below = value >> 2;
    if (below >= 100) {
      long tens = below / 10 * 10;
      boolean hasLower = lower <= tens << 2;
      boolean hasUpper = (tens + 10) << 2 <= upper;
      if (hasLower != hasUpper) {
        significand = hasLower ? tens : tens + 10;
        return;
      }
    }
    boolean hasLower = lower <= below << 2;
    boolean hasUpper = (below + 1) << 2 <= upper;
    long difference = value - ((2 * below + 1) << 1);
    boolean isNearer = difference < 0 || (difference == 0 && (below & 1) == 0);
    boolean takesLower = hasLower != hasUpper ? hasLower : isNearer;
    significand = takesLower ? below : below + 1;
  }

  private static long roundToOdd(long high, long low, long factor) {
    long middle = ((high * factor) >>> 1) + Math.multiplyHigh(low, factor);
    long upper = Math.multiplyHigh(high, factor) + (middle >>> 63);
    return upper | (((middle & LOW_63_BITS) + LOW_63_BITS) >>> 63);
  }

  private void putShortest(TextSink sink) {
    digits.setDigits(significand, 0);
    int first = digits.first();
    int end = NumberWriter.DIGITS;
    while (end > first + 1 && digits.isZeroAt(end - 1)) {
      end--;
    }
    int point = exponent + NumberWriter.DIGITS - first;
    boolean isPlain = point >= -MAX_PLAIN_ZEROS && point <= MAX_PLAIN_DIGITS;
    int next = first;
    if (isPlain && point <= 0) {
      sink.put(WORD_ZERO | NumberWriter.ZERO_DIGITS << 16, 2 - point);
    } else {
      next += isPlain ? point : 1;
      digits.putDigits(sink, first, next);
      sink.put('.');
      if (next >= end) {
        sink.put('0');
      }
    }
    digits.putDigits(sink, next, end);
    if (!isPlain) {
      sink.put('E');
      if (point < 1) {
        sink.put('-');
      }
      NumberWriter.putSmall(sink, Math.abs(point - 1));
    }
  }
}
