// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.DataType;
import io.millrace.device.HostMemory;
import io.millrace.state.Accumulator.Function;

/**
 * What an accumulator reads for each row and writes for each key, with addresses on the device. An
 * accumulator is a word, whose zero is the identity of its operation: minima and maxima are kept as
 * unsigned numbers, minima as complements. The constants are those of state_arguments.cuh.
 *
 * @param data address of the first element of the column; element {@code i} is {@code i * stride}
 *     bytes behind
 * @param validity address of the column's mask, 0 if it has none; element {@code i} is bit {@code
 *     rowOffset + i}
 * @param output address of the column of the result; 0 if there is no result
 */
record AccumulatorValue(
    long data,
    long validity,
    long rowOffset,
    long output,
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

  static final int SUM = 0;
  static final int MIN = 1;
  static final int MAX = 2;

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
      default -> INT64;
    };
  }

  static int operation(Function function) {
    return switch (function) {
      case COUNT, SUM -> SUM;
      case MIN -> MIN;
      case MAX -> MAX;
    };
  }

  boolean isNull(long row) {
    return validity != 0 && !HostMemory.getBit(validity, rowOffset + row);
  }

  /** The accumulator of one element, which is not null. */
  long accumulator(long row, boolean isRetraction) {
    long value = integer(data + row * stride);
    if (type == STATE) {
      return value;
    }
    if (operation == SUM) {
      return isRetraction ? -value : value;
    }
    return operation == MAX ? value ^ Long.MIN_VALUE : ~(value ^ Long.MIN_VALUE);
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

  long combine(long left, long right) {
    if (operation == SUM) {
      return left + right;
    }
    return Long.compareUnsigned(left, right) > 0 ? left : right;
  }

  /** Writes an accumulator as an element of the result; see {@link Accumulator}. */
  void putResult(long position, long accumulator) {
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
}
