// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceStream;

/**
 * Conversions of values between a column's layout and Arrow's, on the device of a stream: by the
 * kernels of arrow_layout.cu or, on the host, in Java. Enqueued; nothing waits. Addresses must be
 * reachable by the device and aligned to the width of a value, or to 8 bytes for values of 16
 * bytes.
 */
@Internal
public abstract sealed class ArrowLayout permits HostArrowLayout, CudaArrowLayout {
  /** The operation on each value and an operand; the numbers are shared with arrow_layout.cu. */
  public enum Operation {
    /** Wraps. */
    MULTIPLY(0),
    /** Rounds down. */
    DIVIDE(1),
    /** The remainder of the division; never negative. */
    REMAINDER(2);

    private final int number;

    Operation(int number) {
      this.number = number;
    }

    int number() {
      return number;
    }
  }

  /**
   * Integers at an address.
   *
   * @param width bytes of an integer: 1, 2, 4, 8, or 16, of which only the low 8 are read
   * @param isSigned whether they are sign-extended when they are widened
   */
  public record Integers(long address, int width, boolean isSigned) {
    public static Integers signed(long address, int width) {
      return new Integers(address, width, true);
    }
  }

  ArrowLayout() {}

  /** Conversions that are enqueued on {@code stream}. */
  public static ArrowLayout on(DeviceStream stream) {
    return stream.device().isHostAccessible() ? new HostArrowLayout() : new CudaArrowLayout(stream);
  }

  /** Writes a bit for each of {@code elements} bytes, 0 or 1; the target has whole words of 4. */
  public abstract void pack(long target, long source, int elements);

  /** Writes a byte, 0 or 1, for each of {@code elements} bits. */
  public abstract void unpack(long target, long source, int elements);

  /** Writes the integers with another width of 4, 8 or 16 bytes; higher bits are cut off. */
  public final void convert(long target, int targetWidth, Integers source, int elements) {
    convert(target, targetWidth, source, elements, Operation.MULTIPLY, 1);
  }

  /** As {@link #convert(long, int, Integers, int)}, after an operation on each value. */
  public abstract void convert(
      long target,
      int targetWidth,
      Integers source,
      int elements,
      Operation operation,
      long operand);

  /**
   * As {@link ArrowDecimals#narrow}, but writes the result to memory.
   *
   * @param refused address of an INT64 for the result
   */
  public abstract void narrowDecimals(
      long target,
      int targetWidth,
      long source,
      int elements,
      long mask,
      ArrowDecimals.Limit limit,
      long refused);
}
