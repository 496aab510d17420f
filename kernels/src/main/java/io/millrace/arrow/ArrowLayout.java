// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceKind;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelStructure;
import java.util.function.Consumer;

/**
 * Conversions of values between a column's layout and Arrow's, on the device of a stream: by the
 * kernels of arrow_layout.cu or, on the host, in Java. Enqueued; nothing waits. Addresses must be
 * reachable by the device and aligned to the width of a value, or to 8 bytes for values of 16
 * bytes.
 */
@Internal
public record ArrowLayout(DeviceStream stream) {
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
  }

  private static final int THREADS = 256;
  private static final int WIDE = 2 * Long.BYTES;

  /** The structure {@code ArrowLayoutArguments} of arrow_layout.cu. */
  static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("ArrowLayoutArguments");
    static final KernelStructure.Int64 INPUT = LAYOUT.int64("input");
    static final KernelStructure.Int64 OUTPUT = LAYOUT.int64("output");
    static final KernelStructure.Int64 ELEMENTS = LAYOUT.int64("elements");
    static final KernelStructure.Int64 OPERAND = LAYOUT.int64("operand");
    static final KernelStructure.Int32 OPERATION = LAYOUT.int32("operation");
    static final KernelStructure.Int32 INPUT_WIDTH = LAYOUT.int32("input_width");
    static final KernelStructure.Int32 INPUT_SIGNED = LAYOUT.int32("input_signed");
    static final KernelStructure.Int32 OUTPUT_WIDTH = LAYOUT.int32("output_width");

    private Arguments() {}
  }

  /** The structure {@code ArrowDecimalArguments} of arrow_layout.cu. */
  static final class DecimalArguments {
    static final KernelStructure LAYOUT = new KernelStructure("ArrowDecimalArguments");
    static final KernelStructure.Int64 INPUT = LAYOUT.int64("input");
    static final KernelStructure.Int64 OUTPUT = LAYOUT.int64("output");
    static final KernelStructure.Int64 ELEMENTS = LAYOUT.int64("elements");
    static final KernelStructure.Int64 MASK = LAYOUT.int64("mask");
    static final KernelStructure.Int64 LIMIT_LOW = LAYOUT.int64("limit_low");
    static final KernelStructure.Int64 LIMIT_HIGH = LAYOUT.int64("limit_high");
    static final KernelStructure.Int64 REFUSED = LAYOUT.int64("refused");
    static final KernelStructure.Int32 OUTPUT_WIDTH = LAYOUT.int32("output_width");
    static final KernelStructure.Int32 PADDING = LAYOUT.int32("padding");

    private DecimalArguments() {}
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

  /** Writes the integers with another width of 4, 8 or 16 bytes; higher bits are cut off. */
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
                  .put(Arguments.OPERAND, operand)
                  .put(Arguments.OPERATION, operation.number)
                  .put(Arguments.OUTPUT_WIDTH, targetWidth));
    }
  }

  /**
   * As {@link ArrowDecimals#narrow}, but writes the result to memory.
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
    try (KernelArguments arguments = new KernelArguments(DecimalArguments.LAYOUT)) {
      arguments
          .put(DecimalArguments.INPUT, source)
          .put(DecimalArguments.OUTPUT, target)
          .put(DecimalArguments.ELEMENTS, elements)
          .put(DecimalArguments.MASK, mask)
          .put(DecimalArguments.LIMIT_LOW, limit.low())
          .put(DecimalArguments.LIMIT_HIGH, limit.high())
          .put(DecimalArguments.REFUSED, refused)
          .put(DecimalArguments.OUTPUT_WIDTH, targetWidth);
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
    try (KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
      arguments
          .put(Arguments.INPUT, source.address)
          .put(Arguments.OUTPUT, target)
          .put(Arguments.ELEMENTS, elements)
          .put(Arguments.INPUT_WIDTH, source.width)
          .put(Arguments.INPUT_SIGNED, source.isSigned ? 1 : 0);
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
