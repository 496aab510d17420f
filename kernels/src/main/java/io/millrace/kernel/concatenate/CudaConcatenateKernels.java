// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.concatenate;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuProperties;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;

/** Launches the kernels of concatenate.cu. One instance per device. */
final class CudaConcatenateKernels implements ConcatenateKernels {
  /** The structure {@code ConcatenateBitsArguments} of concatenate.cu. */
  static final class BitsArguments {
    static final KernelStructure LAYOUT = new KernelStructure("ConcatenateBitsArguments");
    static final KernelStructure.Int64 TARGET = LAYOUT.int64("target");
    static final KernelStructure.Int64 SOURCE = LAYOUT.int64("source");
    static final KernelStructure.Int64 TARGET_BIT = LAYOUT.int64("target_bit");
    static final KernelStructure.Int64 SOURCE_BIT = LAYOUT.int64("source_bit");
    static final KernelStructure.Int64 BITS = LAYOUT.int64("bits");

    private BitsArguments() {}
  }

  /** The structure {@code ConcatenateOffsetsArguments} of concatenate.cu. */
  static final class OffsetsArguments {
    static final KernelStructure LAYOUT = new KernelStructure("ConcatenateOffsetsArguments");
    static final KernelStructure.Int64 TARGET = LAYOUT.int64("target");
    static final KernelStructure.Int64 SOURCE = LAYOUT.int64("source");
    static final KernelStructure.Int64 COUNT = LAYOUT.int64("count");
    static final KernelStructure.Int32 SHIFT = LAYOUT.int32("shift");
    static final KernelStructure.Int32 PADDING = LAYOUT.int32("padding");

    private OffsetsArguments() {}
  }

  private static final int THREADS = 256;

  private final KernelModule module;
  private final int residentBlocks;

  CudaConcatenateKernels(Device device) {
    module = device.loadModule("concatenate");
    GpuProperties gpu = device.properties();
    residentBlocks = gpu.multiprocessors() * (gpu.threadsPerMultiprocessor() / THREADS);
  }

  @Override
  public void bits(
      long target, long targetBit, long source, long sourceBit, int bits, DeviceStream stream) {
    try (KernelArguments arguments = new KernelArguments(BitsArguments.LAYOUT)) {
      arguments
          .put(BitsArguments.TARGET, target)
          .put(BitsArguments.SOURCE, source)
          .put(BitsArguments.TARGET_BIT, targetBit)
          .put(BitsArguments.SOURCE_BIT, sourceBit)
          .put(BitsArguments.BITS, bits);
      int words = bits / Integer.SIZE + 2;
      module.function("concatenate_bits").launch(blocks(words), THREADS, 0, stream, arguments);
    }
  }

  @Override
  public void offsets(long target, long source, int shift, int count, DeviceStream stream) {
    try (KernelArguments arguments = new KernelArguments(OffsetsArguments.LAYOUT)) {
      arguments
          .put(OffsetsArguments.TARGET, target)
          .put(OffsetsArguments.SOURCE, source)
          .put(OffsetsArguments.COUNT, count)
          .put(OffsetsArguments.SHIFT, shift)
          .put(OffsetsArguments.PADDING, 0);
      module.function("concatenate_offsets").launch(blocks(count), THREADS, 0, stream, arguments);
    }
  }

  private int blocks(int threads) {
    return Math.min(residentBlocks, (threads - 1) / THREADS + 1);
  }
}
