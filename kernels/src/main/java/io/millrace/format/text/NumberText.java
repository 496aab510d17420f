// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.text;

import io.millrace.annotation.Internal;

/**
 * A number as it is written: {@code significant * 10^exponent}, and more digits behind the
 * significant ones if there are too many. The twin of {@code text_number.cuh}. Reused for each
 * number by one thread.
 */
@Internal
public final class NumberText {
  private static final int MAX_DIGITS = 19;
  private static final int MAX_EXPONENT = 1 << 27;
  private static final int BASE = 10;
  private static final long LOW_WORD = 0xffff_ffffL;

  private boolean negative;
  private boolean integer;
  private boolean moreDigits;
  private long significant;
  private int exponent;
  private int firstDigit;
  private int integerDigits;
  private int digits;
  private int writtenExponent;
  private int significantDigits;
  private int droppedDigits;

  // Of the last decimal.
  private long low;
  private long high;

  /**
   * Reads a number: of JSON, or as {@code BigDecimal} does, which also takes a plus, zeros in
   * front, and a point at either end. False if there is none.
   */
  public boolean read(TextCursor text, boolean isJson) {
    clear();
    negative = text.take('-');
    if (!isJson && !negative) {
      text.take('+');
    }
    firstDigit = text.at();
    boolean zeroFirst = text.peek() == '0';
    readDigits(text);
    integerDigits = digits;
    if (isJson && (digits == 0 || (zeroFirst && digits > 1))) {
      return false;
    }
    if (text.take('.')) {
      integer = false;
      readDigits(text);
      if (isJson && digits == integerDigits) {
        return false;
      }
    }
    if (digits == 0 || !readExponent(text)) {
      return false;
    }
    exponent = writtenExponent - (digits - integerDigits) + droppedDigits;
    return true;
  }

  private void clear() {
    integer = true;
    moreDigits = false;
    significant = 0;
    digits = 0;
    writtenExponent = 0;
    significantDigits = 0;
    droppedDigits = 0;
  }

  private void readDigits(TextCursor text) {
    for (int next = text.peek(); TextCursor.isDigit(next); next = text.peek()) {
      text.next();
      digits++;
      if (significantDigits < MAX_DIGITS) {
        significant = significant * BASE + (next - '0');
        if (significant != 0) {
          significantDigits++;
        }
      } else {
        droppedDigits++;
        moreDigits |= next != '0';
      }
    }
  }

  private boolean readExponent(TextCursor text) {
    int next = text.peek();
    if (next != 'e' && next != 'E') {
      return true;
    }
    integer = false;
    text.next();
    boolean negativeExponent = text.take('-');
    if (!negativeExponent) {
      text.take('+');
    }
    if (!text.isDigitNext()) {
      return false;
    }
    int written = 0;
    while (text.isDigitNext()) {
      written = Math.min(written * BASE + (text.next() - '0'), MAX_EXPONENT);
    }
    writtenExponent = negativeExponent ? -written : written;
    return true;
  }

  /** The position of the first digit, or of the point if there is none before it. */
  public int firstDigit() {
    return firstDigit;
  }

  public boolean isNegative() {
    return negative;
  }

  /** Whether there is neither a point nor an exponent. */
  public boolean isInteger() {
    return integer;
  }

  /** Whether digits behind the significant ones are not all zero. */
  public boolean hasMoreDigits() {
    return moreDigits;
  }

  /** The first digits that are not zero, as an unsigned number. */
  public long significant() {
    return significant;
  }

  public int exponent() {
    return exponent;
  }

  /** Whether the integer is one of a two's complement of {@code bytes} bytes. */
  public boolean isIntegerOf(int bytes) {
    long limit = (1L << (bytes * Byte.SIZE - 1)) - (negative ? 0 : 1);
    return exponent == 0 && Long.compareUnsigned(significant, limit) <= 0;
  }

  public long integer() {
    return negative ? -significant : significant;
  }

  /**
   * Reads the digits again, for the unscaled value of a decimal with {@code scale} digits behind
   * the point, rounded half up: {@link #low} and {@link #high}. False if it has more than {@code
   * precision} digits.
   */
  public boolean readDecimal(TextCursor text, int precision, int scale) {
    low = 0;
    high = 0;
    if (writtenExponent == MAX_EXPONENT) {
      return significant == 0;
    }
    int behind = text.at();
    text.moveTo(firstDigit);
    boolean fits = readKeptDigits(text, integerDigits + writtenExponent + scale, precision);
    text.moveTo(behind);
    if (fits && negative) {
      low = -low;
      high = ~high + (low == 0 ? 1 : 0);
    }
    return fits;
  }

  private boolean readKeptDigits(TextCursor text, int kept, int precision) {
    int count = 0;
    for (int i = 0; i < digits && i < kept; i++) {
      int digit = nextDigit(text);
      if (count > 0 || digit != 0) {
        count++;
      }
      if (count > precision) {
        return false;
      }
      multiplyAdd(BASE, digit);
    }
    for (int i = digits; i < kept && count > 0; i++) {
      count++;
      if (count > precision) {
        return false;
      }
      multiplyAdd(BASE, 0);
    }
    if (kept >= 0 && kept < digits && nextDigit(text) >= BASE / 2) {
      multiplyAdd(1, 1);
      return !isPowerOfTen(precision);
    }
    return true;
  }

  private static int nextDigit(TextCursor text) {
    int next = text.next();
    return (next == '.' ? text.next() : next) - '0';
  }

  private boolean isPowerOfTen(int power) {
    long valueLow = low;
    long valueHigh = high;
    low = 1;
    high = 0;
    for (int i = 0; i < power; i++) {
      multiplyAdd(BASE, 0);
    }
    boolean equal = low == valueLow && high == valueHigh;
    low = valueLow;
    high = valueHigh;
    return equal;
  }

  private void multiplyAdd(int factor, int addend) {
    long lower = (low & LOW_WORD) * factor + addend;
    long upper = (low >>> Integer.SIZE) * factor + (lower >>> Integer.SIZE);
    low = upper << Integer.SIZE | (lower & LOW_WORD);
    high = high * factor + (upper >>> Integer.SIZE);
  }

  /** The lower 64 bits of the last decimal. */
  public long low() {
    return low;
  }

  /** The upper 64 bits of the last decimal. */
  public long high() {
    return high;
  }
}
