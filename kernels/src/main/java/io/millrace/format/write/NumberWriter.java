// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

/**
 * Integers and decimals as text: the 40 digits of a number of up to 128 bits, with zeros in front.
 * The twin of {@code number_writer.cuh}. Reused for each number by one thread.
 */
final class NumberWriter {
  /** Eight zeros. */
  static final long ZERO_DIGITS = 0x3030303030303030L;

  /** A number has eight digits below it. */
  static final int GROUP = 100_000_000;

  private static final int GROUPS = 5;

  /** Positions of digits. */
  static final int DIGITS = GROUPS * Long.BYTES;

  private static final long LOW_WORD = 0xffff_ffffL;

  private final long[] words = new long[GROUPS + 1];
  private final long[] limbs = new long[4];
  private int first;

  /** The digits of a number below 10^8, the first one lowest, as numbers. */
  static long eightDigits(int number) {
    long fours = (number / 10_000) | (long) (number % 10_000) << Integer.SIZE;
    long hundreds = ((fours * 10_486) >>> 20) & 0x7f_0000_007fL;
    long twos = hundreds + ((fours - 100 * hundreds) << 16);
    long tens = ((twos * 103) >>> 10) & 0xf_000f_000f_000fL;
    return tens + ((twos - 10 * tens) << Byte.SIZE);
  }

  /** Two digits of a number below 100. */
  static long twoDigits(int number) {
    return ('0' + number / 10) | (long) ('0' + number % 10) << Byte.SIZE;
  }

  /** Puts a number below 10^8. */
  static void putSmall(TextSink sink, int number) {
    long digits = eightDigits(number);
    int zeros = number == 0 ? Long.BYTES - 1 : Long.numberOfTrailingZeros(digits) / Byte.SIZE;
    sink.put((digits | ZERO_DIGITS) >>> (zeros * Byte.SIZE), Long.BYTES - zeros);
  }

  /** Puts plain notation with {@code scale} digits behind the point, and at least one before it. */
  void putDecimal(TextSink sink, long low, long high, int scale) {
    long lower = low;
    long upper = high;
    if (high < 0) {
      sink.put('-');
      lower = -low;
      upper = ~high + (low == 0 ? 1 : 0);
    }
    if (scale == 0 && upper == 0 && Long.compareUnsigned(lower, GROUP) < 0) {
      putSmall(sink, (int) lower);
      return;
    }
    setDigits(lower, upper);
    int point = DIGITS - scale;
    putDigits(sink, Math.min(first, point - 1), point);
    if (scale > 0) {
      sink.put('.');
      putDigits(sink, point, DIGITS);
    }
  }

  /** Makes the digits of an unsigned number of 128 bits. */
  void setDigits(long low, long high) {
    first = DIGITS - 1;
    if (high == 0 && low >= 0) {
      long rest = low;
      for (int group = GROUPS - 1; group >= 0; group--) {
        setGroup(group, (int) (rest % GROUP));
        rest /= GROUP;
      }
      return;
    }
    limbs[0] = low & LOW_WORD;
    limbs[1] = low >>> Integer.SIZE;
    limbs[2] = high & LOW_WORD;
    limbs[3] = high >>> Integer.SIZE;
    for (int group = GROUPS - 1; group >= 0; group--) {
      long rest = 0;
      for (int i = limbs.length - 1; i >= 0; i--) {
        long value = rest << Integer.SIZE | limbs[i];
        limbs[i] = value / GROUP;
        rest = value % GROUP;
      }
      setGroup(group, (int) rest);
    }
  }

  private void setGroup(int group, int number) {
    long digits = eightDigits(number);
    words[group] = digits | ZERO_DIGITS;
    if (number != 0) {
      first = group * Long.BYTES + Long.numberOfTrailingZeros(digits) / Byte.SIZE;
    }
  }

  /** The position of the first digit that is not zero, or else of the last one. */
  int first() {
    return first;
  }

  boolean isZeroAt(int position) {
    return (digitsAt(position) & 0xff) == '0';
  }

  /** Puts the digits from a position to another one. */
  void putDigits(TextSink sink, int from, int to) {
    for (int at = from; at < to; at += Long.BYTES) {
      sink.put(digitsAt(at), Math.min(Long.BYTES, to - at));
    }
  }

  private long digitsAt(int position) {
    int word = position / Long.BYTES;
    int shift = position % Long.BYTES * Byte.SIZE;
    long low = words[word] >>> shift;
    return shift == 0 ? low : low | words[word + 1] << (Long.SIZE - shift);
  }
}
