// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.slice;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuProperties;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.device.StagingBuffer;
import io.millrace.kernel.slice.TimeSlices.TimeRange;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;

/** Launches the kernels of slice.cu. One instance per device. */
final class CudaSliceKernels implements SliceKernels {
  /** The structure {@code SliceRangeArguments} of slice.cu. */
  static final class RangeArguments {
    static final KernelStructure LAYOUT = new KernelStructure("SliceRangeArguments");
    static final KernelStructure.Int64 TIMES = LAYOUT.int64("times");
    static final KernelStructure.Int64 SCRATCH = LAYOUT.int64("scratch");
    static final KernelStructure.Int64 RESULT = LAYOUT.int64("result");
    static final KernelStructure.Int64 ROWS = LAYOUT.int64("rows");

    private RangeArguments() {}
  }

  /** The structure {@code SliceNumbersArguments} of slice.cu. */
  static final class NumbersArguments {
    static final KernelStructure LAYOUT = new KernelStructure("SliceNumbersArguments");
    static final KernelStructure.Int64 TIMES = LAYOUT.int64("times");
    static final KernelStructure.Int64 NUMBERS = LAYOUT.int64("numbers");
    static final KernelStructure.Int64 ROWS = LAYOUT.int64("rows");
    static final KernelStructure.Int64 START = LAYOUT.int64("start");
    static final KernelStructure.Int64 WIDTH = LAYOUT.int64("width");

    private NumbersArguments() {}
  }

  /** The structure {@code SliceStartsArguments} of slice.cu. */
  static final class StartsArguments {
    static final KernelStructure LAYOUT = new KernelStructure("SliceStartsArguments");
    static final KernelStructure.Int64 TIMES = LAYOUT.int64("times");
    static final KernelStructure.Int64 STARTS = LAYOUT.int64("starts");
    static final KernelStructure.Int64 ROWS = LAYOUT.int64("rows");
    static final KernelStructure.Int64 START = LAYOUT.int64("start");
    static final KernelStructure.Int64 WIDTH = LAYOUT.int64("width");

    private StartsArguments() {}
  }

  private static final int THREADS = 256;
  private static final int SCRATCH_BYTES = 3 * Long.BYTES;

  private final KernelModule module;
  private final int residentBlocks;

  CudaSliceKernels(Device device) {
    module = device.loadModule("slice");
    GpuProperties gpu = device.properties();
    residentBlocks = gpu.multiprocessors() * (gpu.threadsPerMultiprocessor() / THREADS);
  }

  @Override
  public TimeRange range(long times, int rows, DeviceStream stream, MemoryResource memory) {
    try (StagingBuffer result = stream.device().stagingPool().acquire(2 * Long.BYTES);
        Buffer scratch = Buffer.allocate(SCRATCH_BYTES, stream, memory);
        AccessScope scope = AccessScope.on(stream);
        KernelArguments arguments = new KernelArguments(RangeArguments.LAYOUT)) {
      long scratchAddress = scratch.access(AccessMode.WRITE, scope);
      stream.fill(scratchAddress, (byte) 0, SCRATCH_BYTES);
      arguments
          .put(RangeArguments.TIMES, times)
          .put(RangeArguments.SCRATCH, scratchAddress)
          .put(RangeArguments.RESULT, result.address())
          .put(RangeArguments.ROWS, rows);
      module.function("slice_range").launch(blocks(rows), THREADS, 0, stream, arguments);
      stream.synchronize();
      return new TimeRange(
          HostMemory.getLong(result.address()), HostMemory.getLong(result.address() + Long.BYTES));
    }
  }

  @Override
  public void numbers(
      long times, int rows, long start, long width, long numbers, DeviceStream stream) {
    try (KernelArguments arguments = new KernelArguments(NumbersArguments.LAYOUT)) {
      arguments
          .put(NumbersArguments.TIMES, times)
          .put(NumbersArguments.NUMBERS, numbers)
          .put(NumbersArguments.ROWS, rows)
          .put(NumbersArguments.START, start)
          .put(NumbersArguments.WIDTH, width);
      module.function("slice_numbers").launch(blocks(rows), THREADS, 0, stream, arguments);
    }
  }

  @Override
  public void starts(
      long times, int rows, long start, long width, long starts, DeviceStream stream) {
    try (KernelArguments arguments = new KernelArguments(StartsArguments.LAYOUT)) {
      arguments
          .put(StartsArguments.TIMES, times)
          .put(StartsArguments.STARTS, starts)
          .put(StartsArguments.ROWS, rows)
          .put(StartsArguments.START, start)
          .put(StartsArguments.WIDTH, width);
      module.function("slice_starts").launch(blocks(rows), THREADS, 0, stream, arguments);
    }
  }

  private int blocks(int rows) {
    return Math.min(residentBlocks, (rows - 1) / THREADS + 1);
  }
}
