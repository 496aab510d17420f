// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.HostMemory;

/**
 * A word of the key, read from a column, with addresses on the device. A null is zero in its word,
 * and a bit in the null word behind all key words. All NaN are one key; 0.0 and -0.0 are two, as in
 * Flink. The constants are those of state_arguments.cuh.
 *
 * @param data address of the first element; element {@code i} is {@code i * stride} bytes behind
 * @param validity address of the column's mask, 0 if it has none; element {@code i} is bit {@code
 *     rowOffset + i}
 * @param output address of the column of the result, with the same stride; 0 if there is no result
 * @param outputValidity address of that column's mask, zero at first; 0 if it has none
 * @param width bytes of an element: 1, 2, 4 or 8
 * @param nullBit the bit of the null word; {@link #NO_NULL_BIT} if the word is never null
 */
record KeyWord(
    long data,
    long validity,
    long rowOffset,
    long output,
    long outputValidity,
    int stride,
    int width,
    int type,
    int nullBit) {
  static final int BITS = 0;
  static final int FLOAT32 = 1;
  static final int FLOAT64 = 2;
  static final int NO_NULL_BIT = -1;

  boolean isNull(long row) {
    return validity != 0 && !HostMemory.getBit(validity, rowOffset + row);
  }

  /** The word of a row's key. */
  long word(long row) {
    if (isNull(row)) {
      return 0;
    }
    long address = data + row * stride;
    return switch (type) {
      case FLOAT32 -> Integer.toUnsignedLong(Float.floatToIntBits(HostMemory.getFloat(address)));
      case FLOAT64 -> Double.doubleToLongBits(HostMemory.getDouble(address));
      default -> bits(address);
    };
  }

  private long bits(long address) {
    return switch (width) {
      case Byte.BYTES -> Byte.toUnsignedLong(HostMemory.getByte(address));
      case Short.BYTES -> Short.toUnsignedLong(HostMemory.getShort(address));
      case Integer.BYTES -> Integer.toUnsignedLong(HostMemory.getInt(address));
      default -> HostMemory.getLong(address);
    };
  }

  /** Writes the element of a row, as it is in its column, as an element of the result. */
  void putOutput(long row, long position) {
    long bits = bits(data + row * stride);
    long address = output + position * stride;
    switch (width) {
      case Byte.BYTES -> HostMemory.putByte(address, (byte) bits);
      case Short.BYTES -> HostMemory.putShort(address, (short) bits);
      case Integer.BYTES -> HostMemory.putInt(address, (int) bits);
      default -> HostMemory.putLong(address, bits);
    }
    if (outputValidity != 0 && !isNull(row)) {
      HostMemory.putBit(outputValidity, position, true);
    }
  }
}
