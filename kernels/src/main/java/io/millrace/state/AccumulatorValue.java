// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.DataType;
import io.millrace.device.HostMemory;
import java.math.BigInteger;

/**
 * What an accumulator reads for each row and writes for each key, with addresses on the device. An
 * accumulator is one to three words, whose zeros are the identity of its operation: minima and
 * maxima are kept as unsigned numbers, minima as complements; a sum of decimals is one integer of
 * two or three words, the lowest first. The constants are those of state_arguments.cuh.
 *
 * @param data address of the first element of the column; element {@code i} is {@code i * stride}
 *     bytes behind
 * @param validity address of the column's mask, 0 if it has none; element {@code i} is bit {@code
 *     rowOffset + i}
 * @param output address of the column of the result; 0 if there is no result
 * @param outputValidity address of that column's mask, zero at first; 0 if it has none
 */
record AccumulatorValue(
    long data,
    long validity,
    long rowOffset,
    long output,
    long outputValidity,
    int stride,
    int type,
    int operation,
    int result) {
  static final int ONE = 0;
  static final int INT8 = 1;
  static final int INT16 = 2;
  static final int INT32 = 3;
  static final int INT64 = 4;
  static final int FLOAT32 = 5;
  static final int FLOAT64 = 6;

  /** An accumulator of another state row. */
  static final int STATE = 7;

  static final int INT128 = 8;

  static final int SUM = 0;
  static final int MIN = 1;
  static final int MAX = 2;
  static final int SUM_128 = 3;
  static final int SUM_192 = 4;

  private static final int SIGN_SHIFT = Long.SIZE - 1;
  private static final BigInteger RESULT_END = BigInteger.TEN.pow(38);
  private static final long RESULT_END_LOW = RESULT_END.longValue();
  private static final long RESULT_END_HIGH = RESULT_END.shiftRight(Long.SIZE).longValueExact();

  /** The words of an accumulator. */
  static int words(int operation) {
    return switch (operation) {
      case SUM_128 -> 2;
      case SUM_192 -> 3;
      default -> 1;
    };
  }

  static boolean isSupported(DataType type) {
    return switch (type.id()) {
      case INT8,
              INT16,
              INT32,
              INT64,
              FLOAT32,
              FLOAT64,
              DECIMAL32,
              DECIMAL64,
              DATE,
              TIME,
              TIMESTAMP_MILLIS,
              TIMESTAMP_MICROS ->
          true;
      default -> false;
    };
  }

  /** How elements of a type are read and written. */
  static int code(DataType type) {
    return switch (type.id()) {
      case INT8 -> INT8;
      case INT16 -> INT16;
      case INT32, DECIMAL32, DATE, TIME -> INT32;
      case FLOAT32 -> FLOAT32;
      case FLOAT64 -> FLOAT64;
      case DECIMAL128 -> INT128;
      default -> INT64;
    };
  }

  int words() {
    return words(operation);
  }

  boolean isNull(long row) {
    return validity != 0 && !HostMemory.getBit(validity, rowOffset + row);
  }

  /** Combines an element, which is not null, into the words at {@code accumulator}. */
  void accumulate(long accumulator, long row, boolean isRetraction) {
    long element = data + row * stride;
    if (type == STATE) {
      combine(accumulator, element);
    } else if (words() > 1) {
      addElement(accumulator, element, isRetraction);
    } else {
      long word = word(integer(element), isRetraction);
      HostMemory.putLong(accumulator, combineWords(HostMemory.getLong(accumulator), word));
    }
  }

  private long word(long value, boolean isRetraction) {
    return switch (operation) {
      case SUM -> isRetraction ? -value : value;
      case MAX -> value ^ Long.MIN_VALUE;
      default -> ~(value ^ Long.MIN_VALUE);
    };
  }

  /**
   * Combines the words at {@code other} into those at {@code accumulator}. Returns whether they
   * changed.
   */
  boolean combine(long accumulator, long other) {
    long before = HostMemory.getLong(accumulator);
    long addend = HostMemory.getLong(other);
    if (words() == 1) {
      long after = combineWords(before, addend);
      HostMemory.putLong(accumulator, after);
      return before != after;
    }
    long changes = addend;
    HostMemory.putLong(accumulator, before + addend);
    long carry = carry(before, addend, 0);
    for (int word = 1; word < words(); word++) {
      long offset = (long) word * Long.BYTES;
      before = HostMemory.getLong(accumulator + offset);
      addend = HostMemory.getLong(other + offset);
      HostMemory.putLong(accumulator + offset, before + addend + carry);
      carry = carry(before, addend, carry);
      changes |= addend;
    }
    return changes != 0;
  }

  private void addElement(long accumulator, long element, boolean isRetraction) {
    long low = type == INT128 ? HostMemory.getLong(element) : integer(element);
    long high = type == INT128 ? HostMemory.getLong(element + Long.BYTES) : sign(low);
    // A number is taken out by the complements of its words and a carry into the lowest.
    long flip = isRetraction ? -1 : 0;
    long carry = isRetraction ? 1 : 0;
    for (int word = 0; word < words(); word++) {
      long value = word == 0 ? low : word == 1 ? high : sign(high);
      long address = accumulator + (long) word * Long.BYTES;
      long before = HostMemory.getLong(address);
      long addend = value ^ flip;
      HostMemory.putLong(address, before + addend + carry);
      carry = carry(before, addend, carry);
    }
  }

  private static long carry(long left, long right, long carry) {
    long sum = left + right + carry;
    // The carry out of the highest bit of a sum.
    return ((left & right) | ((left | right) & ~sum)) >>> SIGN_SHIFT;
  }

  private long integer(long address) {
    return switch (type) {
      case ONE -> 1;
      case INT8 -> HostMemory.getByte(address);
      case INT16 -> HostMemory.getShort(address);
      case INT32 -> HostMemory.getInt(address);
      case FLOAT32 -> sortable(Float.floatToIntBits(HostMemory.getFloat(address)));
      case FLOAT64 -> sortable(Double.doubleToLongBits(HostMemory.getDouble(address)));
      default -> HostMemory.getLong(address);
    };
  }

  // Its own inverse. The order of the results as integers is the order of Double.compare.
  private static long sortable(long bits) {
    return bits ^ ((bits >> (Long.SIZE - 1)) & Long.MAX_VALUE);
  }

  private static int sortable(int bits) {
    return bits ^ ((bits >> (Integer.SIZE - 1)) & Integer.MAX_VALUE);
  }

  private long combineWords(long left, long right) {
    if (operation == SUM) {
      return left + right;
    }
    return Long.compareUnsigned(left, right) > 0 ? left : right;
  }

  /** Writes the accumulator at {@code address} as an element of the result. */
  void putResult(long position, long address) {
    if (words() > 1) {
      putDecimal(position, address);
      return;
    }
    long accumulator = HostMemory.getLong(address);
    long value = accumulator;
    if (operation != SUM) {
      value = (operation == MAX ? accumulator : ~accumulator) ^ Long.MIN_VALUE;
    }
    switch (result) {
      case INT8 -> HostMemory.putByte(output + position, (byte) value);
      case INT16 -> HostMemory.putShort(output + position * Short.BYTES, (short) value);
      case INT32 -> HostMemory.putInt(output + position * Integer.BYTES, (int) value);
      case FLOAT32 -> HostMemory.putInt(output + position * Float.BYTES, sortable((int) value));
      case FLOAT64 -> HostMemory.putLong(output + position * Double.BYTES, sortable(value));
      default -> HostMemory.putLong(output + position * Long.BYTES, value);
    }
  }

  private void putDecimal(long position, long address) {
    long low = HostMemory.getLong(address);
    long high = HostMemory.getLong(address + Long.BYTES);
    long top = operation == SUM_192 ? HostMemory.getLong(address + 2 * Long.BYTES) : sign(high);
    HostMemory.putLong(output + position * 2 * Long.BYTES, low);
    HostMemory.putLong(output + (position * 2 + 1) * Long.BYTES, high);
    if (top == sign(high) && isInResult(low, high)) {
      HostMemory.putBit(outputValidity, position, true);
    }
  }

  private static long sign(long word) {
    return word >> SIGN_SHIFT;
  }

  /** Whether a number has up to 38 digits. */
  private static boolean isInResult(long low, long high) {
    long sign = sign(high);
    long absoluteLow = (low ^ sign) - sign;
    long absoluteHigh = (high ^ sign) + (sign != 0 && low == 0 ? 1 : 0);
    // Unsigned: the absolute value of the least number is 2^127.
    return absoluteHigh == RESULT_END_HIGH
        ? Long.compareUnsigned(absoluteLow, RESULT_END_LOW) < 0
        : Long.compareUnsigned(absoluteHigh, RESULT_END_HIGH) < 0;
  }
}
