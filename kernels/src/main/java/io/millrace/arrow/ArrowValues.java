// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;
import java.util.function.LongUnaryOperator;

/**
 * Values of fixed width in host memory, and the conversions between Arrow's and ours.
 *
 * @param address of the first value
 * @param width bytes of a value: 1, 2, 4 or 8
 */
@Internal
public record ArrowValues(long address, int width) {
  public static final long NANOS_PER_MILLI = 1_000_000L;

  private static final int DECIMAL128_WIDTH = 2 * Long.BYTES;
  private static final int DONE = -1;

  long get(long row) {
    long at = address + row * width;
    return switch (width) {
      case Byte.BYTES -> HostMemory.getByte(at);
      case Short.BYTES -> HostMemory.getShort(at);
      case Integer.BYTES -> HostMemory.getInt(at);
      default -> HostMemory.getLong(at);
    };
  }

  private void put(long row, long value) {
    long at = address + row * width;
    if (width == Integer.BYTES) {
      HostMemory.putInt(at, Math.toIntExact(value));
    } else {
      HostMemory.putLong(at, value);
    }
  }

  /**
   * Sets these values, which are of 4 or 8 bytes, to what {@code operator} makes of others; to zero
   * under a null.
   *
   * @param mask address of the mask; 0 if there is none
   * @return the first row whose value the operator or the width refuses; -1 if there is none
   */
  int convert(ArrowValues source, int length, long mask, LongUnaryOperator operator) {
    for (int row = 0; row < length; row++) {
      try {
        put(row, isNull(mask, row) ? 0 : operator.applyAsLong(source.get(row)));
      } catch (ArithmeticException e) {
        return row;
      }
    }
    return DONE;
  }

  /** Sets decimals of 128 bits at {@code target} to {@code length} of these values. */
  void widen(long target, long first, int length) {
    for (long row = 0; row < length; row++) {
      long value = get(first + row);
      HostMemory.putLong(target + row * DECIMAL128_WIDTH, value);
      HostMemory.putLong(target + row * DECIMAL128_WIDTH + Long.BYTES, value >> (Long.SIZE - 1));
    }
  }

  /** Splits these nanoseconds into milliseconds and nanoseconds of the millisecond. */
  void split(ArrowValues millis, ArrowValues nanosOfMilli, int length) {
    for (long row = 0; row < length; row++) {
      millis.put(row, Math.floorDiv(get(row), NANOS_PER_MILLI));
      nanosOfMilli.put(row, Math.floorMod(get(row), NANOS_PER_MILLI));
    }
  }

  private static boolean isNull(long mask, int row) {
    return mask != 0 && !HostMemory.getBit(mask, row);
  }
}
