// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.device.Device;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.device.StagingBuffer;
import io.millrace.state.row.StateSelection.Counts;

/** Launches the kernel of state_select.cu. One instance per device. */
final class CudaStateSelect implements StateSelection.Kernels {
  /** The structure {@code StateSelectArguments} of state_select.cu. */
  static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("StateSelectArguments");
    static final KernelStructure.Int64 CHUNKS = LAYOUT.int64("chunks");
    static final KernelStructure.Int64 TARGET = LAYOUT.int64("target");
    static final KernelStructure.Int64 LOOK_BACK = LAYOUT.int64("look_back");
    static final KernelStructure.Int64 NEXT_TILE = LAYOUT.int64("next_tile");
    static final KernelStructure.Int64 COUNTS = LAYOUT.int64("counts");
    static final KernelStructure.Int64 FIRST = LAYOUT.int64("first");
    static final KernelStructure.Int64 END = LAYOUT.int64("end");
    static final KernelStructure.Int64 MASK = LAYOUT.int64("mask");
    static final KernelStructure.Int64 FIRST_ROW = LAYOUT.int64("first_row");
    static final KernelStructure.Int64 WORDS = LAYOUT.int64("words");
    static final KernelStructure.Int64 ADDED = LAYOUT.int64("added");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 ROW_WORDS = LAYOUT.int32("row_words");
    static final KernelStructure.Int32 CHUNK_SHIFT = LAYOUT.int32("chunk_shift");
    static final KernelStructure.Int32 FIRST_WORD = LAYOUT.int32("first_word");
    static final KernelStructure.Int32 TILES = LAYOUT.int32("tiles");
    static final KernelStructure.Int32 TAILS = LAYOUT.int32("tails");

    private Arguments() {}
  }

  private static final int THREADS = LongStrings.TILE_ROWS;

  private final KernelModule module;

  CudaStateSelect(Device device) {
    module = device.loadModule("state_select");
  }

  @Override
  public Counts select(StateSelection selection) {
    int tails = 0;
    for (int tail : selection.schema().tails()) {
      tails |= 1 << tail;
    }
    int tiles = LongStrings.tiles(selection.rows());
    try (StagingBuffer counts = selection.stream().device().stagingPool().acquire(2 * Long.BYTES);
        KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
      arguments
          .put(Arguments.CHUNKS, selection.chunkTable())
          .put(Arguments.TARGET, selection.target())
          .put(Arguments.LOOK_BACK, selection.lookBack() + Long.BYTES)
          .put(Arguments.NEXT_TILE, selection.lookBack())
          .put(Arguments.COUNTS, counts.address())
          .put(Arguments.FIRST, selection.first().oldest())
          .put(Arguments.END, selection.end().oldest())
          .put(Arguments.MASK, selection.first().mask())
          .put(Arguments.FIRST_ROW, selection.firstRow())
          .put(Arguments.ROWS, selection.rows())
          .put(Arguments.ROW_WORDS, selection.schema().rowWords())
          .put(Arguments.CHUNK_SHIFT, selection.chunkShift())
          .put(Arguments.FIRST_WORD, selection.firstWord())
          .put(Arguments.WORDS, selection.words())
          .put(Arguments.ADDED, selection.added())
          .put(Arguments.TILES, tiles)
          .put(Arguments.TAILS, tails);
      long lookBackBytes = LongStrings.lookBackBytes(selection.rows());
      selection.stream().fill(selection.lookBack(), (byte) 0, lookBackBytes);
      module.function("state_select").launch(tiles, THREADS, 0, selection.stream(), arguments);
      selection.stream().synchronize();
      return new Counts(
          (int) HostMemory.getLong(counts.address()),
          HostMemory.getLong(counts.address() + Long.BYTES));
    }
  }
}
