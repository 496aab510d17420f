// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelArguments;
import java.util.function.Consumer;

/**
 * Conversions of values between a column's layout and Arrow's, on the device of a stream: kernels
 * of arrow_layout.cu, and on the host their twins. Enqueued; nothing waits. Addresses are of memory
 * that the device reaches, aligned to a value's width, to 8 bytes for values of 16.
 */
@Internal
public record ArrowLayout(DeviceStream stream) {
  /** What is done with each value and an operand; the numbers are those of arrow_layout.cu. */
  public enum Operation {
    /** Wraps. */
    MULTIPLY(0),
    /** Rounds down. */
    DIVIDE(1),
    /** Of the division; never negative. */
    REMAINDER(2);

    private final int number;

    Operation(int number) {
      this.number = number;
    }
  }

  private static final int THREADS = 256;
  private static final int WIDE = 2 * Long.BYTES;

  /** The structure {@code ArrowLayoutArguments} of arrow_layout.cu. */
  static final class ArgumentsLayout {
    static final int INPUT = 0;
    static final int OUTPUT = 8;
    static final int ELEMENTS = 16;
    static final int OPERAND = 24;
    static final int OPERATION = 32;
    static final int INPUT_WIDTH = 36;
    static final int INPUT_SIGNED = 40;
    static final int OUTPUT_WIDTH = 44;
    static final int BYTES = 48;

    private ArgumentsLayout() {}
  }

  /** The structure {@code ArrowDecimalArguments} of arrow_layout.cu. */
  static final class DecimalArgumentsLayout {
    static final int INPUT = 0;
    static final int OUTPUT = 8;
    static final int ELEMENTS = 16;
    static final int MASK = 24;
    static final int LIMIT_LOW = 32;
    static final int LIMIT_HIGH = 40;
    static final int REFUSED = 48;
    static final int OUTPUT_WIDTH = 56;
    static final int BYTES = 64;

    private DecimalArgumentsLayout() {}
  }

  /**
   * Integers at an address.
   *
   * @param width bytes of each: 1, 2, 4, 8, or 16, of which only the low 8 are read
   * @param isSigned how they are widened
   */
  public record Integers(long address, int width, boolean isSigned) {
    public static Integers signed(long address, int width) {
      return new Integers(address, width, true);
    }

    private long get(long element) {
      long at = address + element * width;
      return switch (width) {
        case Byte.BYTES -> isSigned ? HostMemory.getByte(at) : HostMemory.getByte(at) & 0xffL;
        case Short.BYTES -> isSigned ? HostMemory.getShort(at) : HostMemory.getShort(at) & 0xffffL;
        case Integer.BYTES ->
            isSigned ? HostMemory.getInt(at) : Integer.toUnsignedLong(HostMemory.getInt(at));
        default -> HostMemory.getLong(at);
      };
    }
  }

  /** Writes a bit for each of {@code elements} bytes, 0 or 1; the target has whole words of 4. */
  public void pack(long target, long source, int elements) {
    if (isHost()) {
      BitMask.pack(target, source, elements);
    } else {
      launch("pack_bits", target, Integers.signed(source, 1), elements, arguments -> {});
    }
  }

  /** Writes a byte, 0 or 1, for each of {@code elements} bits. */
  public void unpack(long target, long source, int elements) {
    if (isHost()) {
      BitMask.unpack(target, source, elements);
    } else {
      launch("unpack_bits", target, Integers.signed(source, 1), elements, arguments -> {});
    }
  }

  /** Writes the same integers in another width, 4, 8 or 16; what does not fit is cut. */
  public void convert(long target, int targetWidth, Integers source, int elements) {
    convert(target, targetWidth, source, elements, Operation.MULTIPLY, 1);
  }

  /** As {@link #convert(long, int, Integers, int)}, after an operation on each value. */
  public void convert(
      long target,
      int targetWidth,
      Integers source,
      int elements,
      Operation operation,
      long operand) {
    if (isHost()) {
      for (long element = 0; element < elements; element++) {
        long value = operate(source.get(element), operation, operand);
        put(target + element * targetWidth, targetWidth, value);
      }
    } else {
      launch(
          "convert_integers",
          target,
          source,
          elements,
          arguments ->
              arguments
                  .putLong(ArgumentsLayout.OPERAND, operand)
                  .putInt(ArgumentsLayout.OPERATION, operation.number)
                  .putInt(ArgumentsLayout.OUTPUT_WIDTH, targetWidth));
    }
  }

  /**
   * As {@link ArrowDecimals#narrow}, whose result is written.
   *
   * @param refused address of an INT64 for the result
   */
  public void narrowDecimals(
      long target,
      int targetWidth,
      long source,
      int elements,
      long mask,
      ArrowDecimals.Limit limit,
      long refused) {
    if (isHost()) {
      HostMemory.putLong(
          refused, ArrowDecimals.narrow(target, targetWidth, source, elements, mask, limit));
      return;
    }
    stream.fill(refused, (byte) -1, Long.BYTES);
    try (KernelArguments arguments = new KernelArguments(DecimalArgumentsLayout.BYTES)) {
      arguments
          .putLong(DecimalArgumentsLayout.INPUT, source)
          .putLong(DecimalArgumentsLayout.OUTPUT, target)
          .putLong(DecimalArgumentsLayout.ELEMENTS, elements)
          .putLong(DecimalArgumentsLayout.MASK, mask)
          .putLong(DecimalArgumentsLayout.LIMIT_LOW, limit.low())
          .putLong(DecimalArgumentsLayout.LIMIT_HIGH, limit.high())
          .putLong(DecimalArgumentsLayout.REFUSED, refused)
          .putInt(DecimalArgumentsLayout.OUTPUT_WIDTH, targetWidth);
      launch("narrow_decimals", elements, arguments);
    }
  }

  private static long operate(long value, Operation operation, long operand) {
    return switch (operation) {
      case MULTIPLY -> value * operand;
      case DIVIDE -> Math.floorDiv(value, operand);
      case REMAINDER -> Math.floorMod(value, operand);
    };
  }

  private static void put(long address, int width, long value) {
    if (width == Integer.BYTES) {
      HostMemory.putInt(address, (int) value);
      return;
    }
    HostMemory.putLong(address, value);
    if (width == WIDE) {
      HostMemory.putLong(address + Long.BYTES, value >> (Long.SIZE - 1));
    }
  }

  private boolean isHost() {
    return stream.device().kind() == DeviceKind.HOST;
  }

  private void launch(
      String kernel,
      long target,
      Integers source,
      int elements,
      Consumer<KernelArguments> further) {
    try (KernelArguments arguments = new KernelArguments(ArgumentsLayout.BYTES)) {
      arguments
          .putLong(ArgumentsLayout.INPUT, source.address)
          .putLong(ArgumentsLayout.OUTPUT, target)
          .putLong(ArgumentsLayout.ELEMENTS, elements)
          .putInt(ArgumentsLayout.INPUT_WIDTH, source.width)
          .putInt(ArgumentsLayout.INPUT_SIGNED, source.isSigned ? 1 : 0);
      further.accept(arguments);
      launch(kernel, elements, arguments);
    }
  }

  private void launch(String kernel, int elements, KernelArguments arguments) {
    if (elements > 0) {
      int blocks = (elements - 1) / THREADS + 1;
      stream
          .device()
          .loadModule("arrow_layout")
          .function(kernel)
          .launch(blocks, THREADS, 0, stream, arguments);
    }
  }
}
