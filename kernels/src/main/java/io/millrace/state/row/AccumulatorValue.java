// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.device.HostMemory;
import io.millrace.state.row.Accumulator.Function;
import java.util.Collections;
import java.util.List;

/**
 * What a word of an accumulator reads for each row and writes for each key, with addresses on the
 * device. Zero is the identity of each operation: minima and maxima are kept as unsigned numbers,
 * minima as complements. A sum of decimals has further words behind its first, the lowest: {@link
 * #CARRY}. The constants are those of state_arguments.cuh.
 *
 * @param data address of the first element of the column; element {@code i} is {@code i * stride}
 *     bytes behind. Of {@link #CONSTANT} the element itself
 * @param validity address of the column's mask, 0 if it has none; element {@code i} is bit {@code
 *     rowOffset + i}
 * @param output address of the column of the result; 0 if there is no result
 */
@Internal
public record AccumulatorValue(
    long data,
    long validity,
    long rowOffset,
    long output,
    int stride,
    int type,
    int operation,
    int result) {
  public static final int ONE = 0;
  static final int INT8 = 1;
  static final int INT16 = 2;
  public static final int INT32 = 3;
  public static final int INT64 = 4;
  static final int FLOAT32 = 5;
  static final int FLOAT64 = 6;

  /** An accumulator of another state row. */
  public static final int STATE = 7;

  /** 64 times the sign of an INT32. */
  static final int SIGN32 = 8;

  static final int SIGN64 = 9;

  /** The result is a word in every other word of its column. */
  public static final int HALF = 10;

  /** All rows have the same element, and the stride is 0. */
  public static final int CONSTANT = 11;

  static final int SUM = 0;
  static final int MIN = 1;
  static final int MAX = 2;

  /** A further word of a sum: takes the carry out of the word before it. */
  public static final int CARRY = 3;

  /**
   * The sum of FLOAT values in the order of the rows: its bits, with the sign inverted, so that
   * zero is -0.0, the identity. Elements and results are read and written as INT32.
   */
  static final int ADD_FLOAT32 = 4;

  /** Likewise of DOUBLE values, which are read and written as INT64. */
  static final int ADD_FLOAT64 = 5;

  /** The first word of an {@link M2} of DOUBLE values in the order of the rows. */
  static final int M2 = 6;

  /** A further word of a value in the order of the rows; it has no result. */
  public static final int FURTHER = 7;

  /**
   * The bits of the first value in the order of the rows, and behind them a word that is 1 if there
   * is one.
   */
  static final int FIRST = 8;

  /** Likewise the last value. */
  static final int LAST = 9;

  /** The first word of a {@link WideValue}: of the smallest value. */
  static final int WIDE_MIN = 10;

  static final int WIDE_MAX = 11;
  static final int WIDE_FIRST = 12;
  static final int WIDE_LAST = 13;

  /** The second word of a {@link WideValue}; its type tells how the two words are read. */
  public static final int SECOND = 14;

  /** The first word of a {@link WideValue}: of a string that grows by those of further rows. */
  static final int WIDE_LIST = 15;

  static boolean isSupported(DataType type) {
    return type.id().isScalar() && StateSchema.words(type) == 1;
  }

  /** How elements of a type are read and written. */
  public static int code(DataType type) {
    return switch (type.id()) {
      case BOOL, INT8 -> INT8;
      case INT16 -> INT16;
      case INT32, DECIMAL32, DATE, TIME -> INT32;
      case FLOAT32 -> FLOAT32;
      case FLOAT64 -> FLOAT64;
      default -> INT64;
    };
  }

  /** How the bits of elements of a type are read and written. */
  public static int bitsCode(DataType type) {
    return switch (type.id()) {
      case FLOAT32 -> INT32;
      case FLOAT64 -> INT64;
      default -> code(type);
    };
  }

  /**
   * The operation of the first word of an accumulator.
   *
   * @param type of the value
   */
  static int operation(Function function, DataType type) {
    return switch (function) {
      case COUNT, COUNT_ROWS -> SUM;
      case SUM ->
          switch (type.id()) {
            case FLOAT32 -> ADD_FLOAT32;
            case FLOAT64 -> ADD_FLOAT64;
            default -> SUM;
          };
      case MIN -> MIN;
      case MAX -> MAX;
      case M2 -> M2;
      case FIRST -> FIRST;
      case LAST -> LAST;
      case LISTAGG -> WIDE_LIST;
    };
  }

  /** A word that is written as it is, to a column of BIGINT. */
  public static AccumulatorValue wordTo(long output) {
    return new AccumulatorValue(0, 0, 0, output, 0, INT64, SUM, INT64);
  }

  /** This word, which reads words of accumulators. */
  public AccumulatorValue ofState(long words, int wordStride) {
    return new AccumulatorValue(words, 0, 0, output, wordStride, STATE, operation, result);
  }

  /** The words behind the first one of a value in the order of the rows. */
  public static List<AccumulatorValue> furtherWords(int count) {
    return Collections.nCopies(count, new AccumulatorValue(0, 0, 0, 0, 0, INT64, FURTHER, INT64));
  }

  /**
   * The words of a sum of decimals behind this first one.
   *
   * @param elementType of the column
   * @param topOutput where the third word is written, which there is for a DECIMAL128
   */
  public List<AccumulatorValue> furtherWords(DataType elementType, long topOutput) {
    long second = output + Long.BYTES;
    return switch (elementType.id()) {
      case DECIMAL32 -> List.of(carry(data, second, SIGN32, HALF));
      case DECIMAL64 -> List.of(carry(data, second, SIGN64, HALF));
      default -> {
        long high = data + Long.BYTES;
        yield List.of(carry(high, second, INT64, HALF), carry(high, topOutput, SIGN64, INT64));
      }
    };
  }

  private AccumulatorValue carry(long source, long target, int sourceType, int targetType) {
    return new AccumulatorValue(
        source, validity, rowOffset, target, stride, sourceType, CARRY, targetType);
  }

  /** Whether this is the first word of a {@link WideValue}. */
  public boolean isWide() {
    return (operation >= WIDE_MIN && operation <= WIDE_LAST) || operation == WIDE_LIST;
  }

  /** Whether values are combined in the order of the rows, behind the update of the other words. */
  public boolean isOrdered() {
    return operation >= ADD_FLOAT32;
  }

  /** Whether this is the first word of such a value. */
  public boolean isFirstOrdered() {
    return isOrdered() && operation != FURTHER && operation != SECOND;
  }

  /** Whether a key without rows begins again: it is a sum or an {@link M2} in that order. */
  public boolean beginsAgain() {
    return operation >= ADD_FLOAT32 && operation <= M2;
  }

  /**
   * Combines an element, which is not null, with the words of a value of {@link #isOrdered}.
   *
   * @param words address of the first word
   */
  public void combineInOrder(long words, long row, boolean isRetraction) {
    switch (operation) {
      case ADD_FLOAT32, ADD_FLOAT64 ->
          HostMemory.putLong(words, add(HostMemory.getLong(words), row, isRetraction));
      case M2 -> combineM2(words, row, isRetraction);
      case FIRST -> {
        if (HostMemory.getLong(words + Long.BYTES) == 0) {
          putValue(words, row);
        }
      }
      case LAST -> putValue(words, row);
      default -> {} // with the first word
    }
  }

  private void putValue(long words, long row) {
    long address = data + row * stride;
    boolean isSet = type != STATE || HostMemory.getLong(address + Long.BYTES) != 0;
    if (isSet) {
      HostMemory.putLong(words, bits(address));
      HostMemory.putLong(words + Long.BYTES, 1);
    }
  }

  // Zero-extended.
  private long bits(long address) {
    return switch (type) {
      case INT8 -> Byte.toUnsignedLong(HostMemory.getByte(address));
      case INT16 -> Short.toUnsignedLong(HostMemory.getShort(address));
      case INT32 -> Integer.toUnsignedLong(HostMemory.getInt(address));
      default -> HostMemory.getLong(address);
    };
  }

  private void combineM2(long words, long row, boolean isRetraction) {
    long address = data + row * stride;
    M2 value = new M2(words);
    if (type == STATE) {
      value.add(new M2(address));
    } else if (isRetraction) {
      value.takeBack(HostMemory.getDouble(address));
    } else {
      value.add(HostMemory.getDouble(address));
    }
    value.write(words);
  }

  private long add(long accumulator, long row, boolean isRetraction) {
    long bits = integer(data + row * stride);
    boolean inverts = type == STATE || isRetraction;
    if (operation == ADD_FLOAT32) {
      float left = Float.intBitsToFloat((int) accumulator ^ Integer.MIN_VALUE);
      float right = Float.intBitsToFloat(inverts ? (int) bits ^ Integer.MIN_VALUE : (int) bits);
      return Integer.toUnsignedLong(Float.floatToIntBits(left + right) ^ Integer.MIN_VALUE);
    }
    double left = Double.longBitsToDouble(accumulator ^ Long.MIN_VALUE);
    double right = Double.longBitsToDouble(inverts ? bits ^ Long.MIN_VALUE : bits);
    return Double.doubleToLongBits(left + right) ^ Long.MIN_VALUE;
  }

  /** Whether all rows have the same element. */
  public boolean isConstant() {
    return type == CONSTANT;
  }

  public boolean isNull(long row) {
    return validity != 0 && !HostMemory.getBit(validity, rowOffset + row);
  }

  /** The accumulator of one element, which is not null, without the carry into it. */
  public long accumulator(long row, boolean isRetraction) {
    long value = integer(data + row * stride);
    if (type == STATE) {
      return value;
    }
    return switch (operation) {
      case MIN -> ~(value ^ Long.MIN_VALUE);
      case MAX -> value ^ Long.MIN_VALUE;
      default -> isRetraction ? ~value : value;
    };
  }

  private long integer(long address) {
    return switch (type) {
      case ONE -> 1;
      case CONSTANT -> address;
      case INT8 -> HostMemory.getByte(address);
      case INT16 -> HostMemory.getShort(address);
      case INT32 -> HostMemory.getInt(address);
      case FLOAT32 -> sortable(Float.floatToIntBits(HostMemory.getFloat(address)));
      case FLOAT64 -> sortable(Double.doubleToLongBits(HostMemory.getDouble(address)));
      case SIGN32 -> HostMemory.getInt(address) >> (Integer.SIZE - 1);
      case SIGN64 -> HostMemory.getLong(address) >> (Long.SIZE - 1);
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

  private boolean isExtreme() {
    return operation == MIN || operation == MAX;
  }

  /** The carry into the first word of a sum: a number is taken back by its complement and 1. */
  public static long firstCarry(boolean isRetraction) {
    return isRetraction ? 1 : 0;
  }

  /**
   * The carry into this word.
   *
   * @param first into the first word of a sum
   * @param before out of the word before
   */
  public long carryIn(long first, long before) {
    return operation == CARRY ? before : first;
  }

  public long combine(long left, long right, long carry) {
    if (isExtreme()) {
      return Long.compareUnsigned(left, right) > 0 ? left : right;
    }
    return left + right + carry;
  }

  /** The carry out of {@link #combine}. */
  public static long carryOut(long left, long right, long carry) {
    long sum = left + right + carry;
    return ((left & right) | ((left | right) & ~sum)) >>> (Long.SIZE - 1);
  }

  /** Writes an accumulator as an element of the result; see {@link Accumulator}. */
  public void putResult(long position, long accumulator) {
    if (operation == FURTHER) {
      return;
    }
    long value = accumulator;
    if (operation == ADD_FLOAT32) {
      value = accumulator ^ Integer.MIN_VALUE;
    } else if (operation == ADD_FLOAT64) {
      value = accumulator ^ Long.MIN_VALUE;
    } else if (isExtreme()) {
      value = (operation == MAX ? accumulator : ~accumulator) ^ Long.MIN_VALUE;
    }
    switch (result) {
      case INT8 -> HostMemory.putByte(output + position, (byte) value);
      case INT16 -> HostMemory.putShort(output + position * Short.BYTES, (short) value);
      case INT32 -> HostMemory.putInt(output + position * Integer.BYTES, (int) value);
      case FLOAT32 -> HostMemory.putInt(output + position * Float.BYTES, sortable((int) value));
      case FLOAT64 -> HostMemory.putLong(output + position * Double.BYTES, sortable(value));
      case HALF -> HostMemory.putLong(output + position * 2 * Long.BYTES, value);
      default -> HostMemory.putLong(output + position * Long.BYTES, value);
    }
  }

  /**
   * Whether the bits of the element at {@code position} and of the next one differ; not told of a
   * {@link WideValue}.
   */
  public boolean areResultsDifferent(long position) {
    if (operation == FURTHER || operation >= WIDE_MIN) {
      return false;
    }
    int width = resultWidth();
    for (int i = 0; i < width; i++) {
      long address = output + position * width + i;
      if (HostMemory.getByte(address) != HostMemory.getByte(address + width)) {
        return true;
      }
    }
    return false;
  }

  private int resultWidth() {
    return switch (result) {
      case INT8 -> Byte.BYTES;
      case INT16 -> Short.BYTES;
      case INT32 -> Integer.BYTES;
      default -> Long.BYTES;
    };
  }
}
