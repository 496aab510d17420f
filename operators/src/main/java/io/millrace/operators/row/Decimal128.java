// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.FixedWidthColumnBuilder;
import java.math.BigInteger;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.table.data.DecimalData;

/**
 * Converts between 128-bit two's complement in two words and the big-endian bytes of a {@link
 * BigInteger}.
 */
final class Decimal128 {
  /** The most bytes that a number of 38 digits takes. */
  static final int MAX_BYTES = 16;

  private Decimal128() {}

  static void append(FixedWidthColumnBuilder column, DecimalData decimal) {
    if (decimal.isCompact()) {
      long unscaled = decimal.toUnscaledLong();
      column.appendDecimal128(unscaled, unscaled >> 63);
    } else {
      append(column, decimal.toUnscaledBytes());
    }
  }

  static void append(FixedWidthColumnBuilder column, byte[] bigEndian) {
    long low = bigEndian[0] >> 7;
    long high = low;
    for (byte b : bigEndian) {
      high = high << 8 | low >>> 56;
      low = low << 8 | (b & 0xff);
    }
    column.appendDecimal128(low, high);
  }

  /** Byte {@code index} of the value; byte 0 is the lowest. */
  static byte byteAt(long low, long high, int index) {
    return (byte) (index < Long.BYTES ? low >>> (8 * index) : high >>> (8 * (index - Long.BYTES)));
  }

  /**
   * Writes the lowest {@code length} bytes of the value, the highest first, and zeros behind them
   * up to {@link #MAX_BYTES}.
   */
  static void putBigEndian(MemorySegment target, int offset, long low, long high, int length) {
    int shift = Byte.SIZE * (MAX_BYTES - length);
    long first;
    long second;
    if (shift >= Long.SIZE) {
      first = low << (shift - Long.SIZE);
      second = 0;
    } else {
      first = shift == 0 ? high : high << shift | low >>> (Long.SIZE - shift);
      second = low << shift;
    }
    target.putLongBigEndian(offset, first);
    target.putLongBigEndian(offset + Long.BYTES, second);
  }

  static BigInteger toBigInteger(long low, long high) {
    byte[] bytes = new byte[MAX_BYTES];
    for (int i = 0; i < MAX_BYTES; i++) {
      bytes[MAX_BYTES - 1 - i] = byteAt(low, high, i);
    }
    return new BigInteger(bytes);
  }

  /** The length of {@link BigInteger#toByteArray}: the fewest bytes that keep the sign. */
  static int length(long low, long high) {
    long sign = high >> 63;
    int significantBits =
        high == sign
            ? Long.SIZE - Long.numberOfLeadingZeros(low ^ sign)
            : 2 * Long.SIZE - Long.numberOfLeadingZeros(high ^ sign);
    return significantBits / 8 + 1;
  }
}
