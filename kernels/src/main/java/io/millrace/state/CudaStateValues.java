// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.Device;
import io.millrace.device.GpuProperties;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.state.CudaStateKernels.ValueArguments;
import io.millrace.state.row.CudaKeyWord;
import io.millrace.state.row.StateSchema;

/** Launches the kernel of state_values.cu. One instance per device. */
final class CudaStateValues implements StateValuesBatch.Kernels {
  /** The structure {@code ConstantColumn} of state_values.cu. */
  static final class ConstantArguments {
    static final KernelStructure LAYOUT = new KernelStructure("ConstantColumn");
    static final KernelStructure.Int64 OUTPUT = LAYOUT.int64("output");
    static final KernelStructure.Int64 VALUE = LAYOUT.int64("value");

    private ConstantArguments() {}
  }

  /** The structure {@code StateValuesArguments} of state_values.cu. */
  static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("StateValuesArguments");
    static final KernelStructure.Int64 CHUNKS = LAYOUT.int64("chunks");
    static final KernelStructure.Int64 KINDS = LAYOUT.int64("kinds");
    static final KernelStructure.Int64 FIRST_ROW = LAYOUT.int64("first_row");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 KEY_WORDS = LAYOUT.int32("key_words");
    static final KernelStructure.Int32 HAS_NULL_WORD = LAYOUT.int32("has_null_word");
    static final KernelStructure.Int32 ACCUMULATORS = LAYOUT.int32("accumulators");
    static final KernelStructure.Int32 ROW_WORDS = LAYOUT.int32("row_words");
    static final KernelStructure.Int32 CHUNK_SHIFT = LAYOUT.int32("chunk_shift");
    static final KernelStructure.Int32 ROW_COUNT = LAYOUT.int32("row_count");
    static final KernelStructure.Int32 CONSTANTS = LAYOUT.int32("constants");
    static final KernelStructure.Array KEY =
        LAYOUT.array("key", CudaKeyWord.LAYOUT, StateSchema.MAX_KEY_WORDS);
    static final KernelStructure.Array VALUE =
        LAYOUT.array("value", ValueArguments.LAYOUT, StateSchema.MAX_ACCUMULATOR_WORDS);
    static final KernelStructure.Array CONSTANT =
        LAYOUT.array("constant", ConstantArguments.LAYOUT, StateValuesBatch.MAX_CONSTANTS);

    private Arguments() {}
  }

  private static final int THREADS = 256;

  private final KernelModule module;
  private final int residentBlocks;

  CudaStateValues(Device device) {
    module = device.loadModule("state_values");
    GpuProperties gpu = device.properties();
    residentBlocks = gpu.multiprocessors() * (gpu.threadsPerMultiprocessor() / THREADS);
  }

  @Override
  public void write(StateValuesBatch batch) {
    try (KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
      arguments
          .put(Arguments.CHUNKS, batch.chunkTable())
          .put(Arguments.KINDS, batch.kinds())
          .put(Arguments.FIRST_ROW, batch.firstRow())
          .put(Arguments.ROWS, batch.rows())
          .put(Arguments.KEY_WORDS, batch.key().size())
          .put(Arguments.HAS_NULL_WORD, batch.hasNullWord() ? 1 : 0)
          .put(Arguments.ACCUMULATORS, batch.values().size())
          .put(Arguments.ROW_WORDS, batch.rowWords())
          .put(Arguments.CHUNK_SHIFT, batch.chunkShift())
          .put(Arguments.ROW_COUNT, batch.rowCount())
          .put(Arguments.CONSTANTS, batch.constants().size());
      for (int i = 0; i < batch.key().size(); i++) {
        CudaKeyWord.put(arguments, Arguments.KEY.at(i), batch.key().get(i));
      }
      for (int i = 0; i < batch.values().size(); i++) {
        CudaStateKernels.put(arguments, Arguments.VALUE.at(i), batch.values().get(i));
      }
      for (int i = 0; i < batch.constants().size(); i++) {
        int at = Arguments.CONSTANT.at(i);
        arguments
            .put(at, ConstantArguments.OUTPUT, batch.constants().get(i).output())
            .put(at, ConstantArguments.VALUE, batch.constants().get(i).value());
      }
      int blocks = Math.min(residentBlocks, (batch.rows() - 1) / THREADS + 1);
      module.function("state_values").launch(blocks, THREADS, 0, batch.stream(), arguments);
    }
  }
}
