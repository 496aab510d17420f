// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.device.DeviceStream;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelStructure;
import java.util.function.Consumer;

/** {@link ArrowLayout} by the kernels of arrow_layout.cu. */
final class CudaArrowLayout extends ArrowLayout {
  private static final int THREADS = 256;

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

  private final DeviceStream stream;

  CudaArrowLayout(DeviceStream stream) {
    this.stream = stream;
  }

  @Override
  public void pack(long target, long source, int elements) {
    launch("pack_bits", target, Integers.signed(source, 1), elements, arguments -> {});
  }

  @Override
  public void unpack(long target, long source, int elements) {
    launch("unpack_bits", target, Integers.signed(source, 1), elements, arguments -> {});
  }

  @Override
  public void convert(
      long target,
      int targetWidth,
      Integers source,
      int elements,
      Operation operation,
      long operand) {
    launch(
        "convert_integers",
        target,
        source,
        elements,
        arguments ->
            arguments
                .put(Arguments.OPERAND, operand)
                .put(Arguments.OPERATION, operation.number())
                .put(Arguments.OUTPUT_WIDTH, targetWidth));
  }

  @Override
  public void narrowDecimals(
      long target,
      int targetWidth,
      long source,
      int elements,
      long mask,
      ArrowDecimals.Limit limit,
      long refused) {
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

  private void launch(
      String kernel,
      long target,
      Integers source,
      int elements,
      Consumer<KernelArguments> further) {
    try (KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
      arguments
          .put(Arguments.INPUT, source.address())
          .put(Arguments.OUTPUT, target)
          .put(Arguments.ELEMENTS, elements)
          .put(Arguments.INPUT_WIDTH, source.width())
          .put(Arguments.INPUT_SIGNED, source.isSigned() ? 1 : 0);
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
