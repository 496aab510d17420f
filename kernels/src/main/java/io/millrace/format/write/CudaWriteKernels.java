// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.device.Device;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;

/** Launches the kernels of write.cu. One instance per device. */
final class CudaWriteKernels implements WriteKernels {
  /** The structure {@code WriteArguments} of write_arguments.cuh. */
  static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("WriteArguments");
    static final KernelStructure.Int64 PLAN = LAYOUT.int64("plan");
    static final KernelStructure.Int64 POWERS = LAYOUT.int64("powers");
    static final KernelStructure.Int64 COLUMNS = LAYOUT.int64("columns");
    static final KernelStructure.Int64 POSITIONS = LAYOUT.int64("positions");
    static final KernelStructure.Int64 BYTES = LAYOUT.int64("bytes");
    static final KernelStructure.Int64 LOOK_BACK = LAYOUT.int64("look_back");
    static final KernelStructure.Int64 RESULT = LAYOUT.int64("result");
    static final KernelStructure.Int32 STEPS = LAYOUT.int32("steps");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 TILES = LAYOUT.int32("tiles");
    static final KernelStructure.Int32 DELIMITER = LAYOUT.int32("delimiter");

    private Arguments() {}
  }

  private static final int MEASURE_THREADS = 256;
  private static final int WRITE_THREADS = 128;

  private final KernelModule module;

  CudaWriteKernels(Device device) {
    module = device.loadModule("write");
  }

  private static int blocks(int rows, int threads) {
    return (rows - 1) / threads + 1;
  }

  @Override
  public long scratchBytes(int count) {
    return (blocks(count, MEASURE_THREADS) + 1L) * Long.BYTES;
  }

  @Override
  public void measure(Rows rows) {
    rows.stream().fill(rows.scratch(), (byte) 0, scratchBytes(rows.count()));
    launch("write_measure", rows, 0, MEASURE_THREADS);
    rows.stream().synchronize();
  }

  @Override
  public void write(Rows rows, long bytes) {
    launch("write_rows", rows, bytes, WRITE_THREADS);
  }

  private void launch(String kernel, Rows rows, long bytes, int threads) {
    try (KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
      arguments
          .put(Arguments.PLAN, rows.planAddress())
          .put(Arguments.POWERS, rows.powers())
          .put(Arguments.COLUMNS, rows.columns())
          .put(Arguments.POSITIONS, rows.positions())
          .put(Arguments.BYTES, bytes)
          .put(Arguments.LOOK_BACK, rows.scratch())
          .put(Arguments.RESULT, rows.result())
          .put(Arguments.STEPS, rows.plan().size())
          .put(Arguments.ROWS, rows.count())
          .put(Arguments.TILES, blocks(rows.count(), MEASURE_THREADS))
          .put(Arguments.DELIMITER, rows.plan().delimiter());
      int blocks = blocks(rows.count(), threads);
      module.function(kernel).launch(blocks, threads, 0, rows.stream(), arguments);
    }
  }
}
