// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.device.HostMemory;
import java.math.BigInteger;

/** Arrow's decimals of 128 bits in host memory, held to their precision. */
@Internal
public final class ArrowDecimals {
  private static final int WIDTH = 2 * Long.BYTES;
  private static final long NONE = -1;

  private ArrowDecimals() {}

  /**
   * The exclusive limit of a decimal's absolute unscaled value: 10 to the power of the precision,
   * in 128 bits.
   *
   * @param low the lower 64 bits
   * @param high the upper 64 bits
   */
  public record Limit(long low, long high) {
    public static Limit of(DataType decimal) {
      BigInteger limit = BigInteger.TEN.pow(decimal.precision());
      return new Limit(limit.longValue(), limit.shiftRight(Long.SIZE).longValue());
    }

    /** Whether this is above the absolute value of the number of 128 bits. */
    boolean holds(long valueLow, long valueHigh) {
      long magnitudeLow = valueHigh < 0 ? -valueLow : valueLow;
      long magnitudeHigh = valueHigh < 0 ? ~valueHigh + (valueLow == 0 ? 1 : 0) : valueHigh;
      int order = Long.compareUnsigned(magnitudeHigh, high);
      return order < 0 || (order == 0 && Long.compareUnsigned(magnitudeLow, low) < 0);
    }
  }

  /**
   * Checks decimals and writes them with fewer bytes; nulls become zero.
   *
   * @param target the target's address; 0 to check only
   * @param width bytes of each at the target: 4 or 8
   * @param source address of {@code length} decimals of 128 bits
   * @param mask address of the mask; 0 if no element is null
   * @return the first row that is not null and exceeds the limit; -1 if there is none. The target
   *     is undefined after that row
   */
  static long narrow(long target, int width, long source, long length, long mask, Limit limit) {
    for (long row = 0; row < length; row++) {
      long low = HostMemory.getLong(source + row * WIDTH);
      long high = HostMemory.getLong(source + row * WIDTH + Long.BYTES);
      boolean isNull = mask != 0 && !HostMemory.getBit(mask, row);
      if (!limit.holds(low, high) && !isNull) {
        return row;
      }
      if (target != 0) {
        put(target + row * width, width, isNull ? 0 : low);
      }
    }
    return NONE;
  }

  private static void put(long address, int width, long value) {
    if (width == Integer.BYTES) {
      HostMemory.putInt(address, (int) value);
    } else {
      HostMemory.putLong(address, value);
    }
  }

  /** The error message for a decimal at {@code row} that has more digits than {@code type}. */
  public static String tooLarge(long row, DataType type) {
    return "a value in row " + row + " that is too large for " + type;
  }
}
