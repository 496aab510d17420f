// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import io.millrace.device.Device;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.state.row.LongStrings;

/** Launches the kernels of state_value_strings.cu. One instance per device. */
final class CudaStringColumn implements StringColumn.Kernels {
  /** The structure {@code StateStringValuesArguments} of state_value_strings.cu. */
  static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("StateStringValuesArguments");
    static final KernelStructure.Int64 CHUNKS = LAYOUT.int64("chunks");
    static final KernelStructure.Int64 STRINGS = LAYOUT.int64("strings");
    static final KernelStructure.Int64 OFFSETS = LAYOUT.int64("offsets");
    static final KernelStructure.Int64 BYTES = LAYOUT.int64("bytes");
    static final KernelStructure.Int64 LOOK_BACK = LAYOUT.int64("look_back");
    static final KernelStructure.Int64 NEXT_TILE = LAYOUT.int64("next_tile");
    static final KernelStructure.Int64 TOTAL = LAYOUT.int64("total");
    static final KernelStructure.Int64 FIRST_ROW = LAYOUT.int64("first_row");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 HEAD = LAYOUT.int32("head");
    static final KernelStructure.Int32 ROW_WORDS = LAYOUT.int32("row_words");
    static final KernelStructure.Int32 CHUNK_SHIFT = LAYOUT.int32("chunk_shift");
    static final KernelStructure.Int32 TILES = LAYOUT.int32("tiles");
    static final KernelStructure.Int32 PADDING = LAYOUT.int32("padding");

    private Arguments() {}
  }

  private static final int THREADS = LongStrings.TILE_ROWS;

  private final KernelModule module;

  CudaStringColumn(Device device) {
    module = device.loadModule("state_value_strings");
  }

  @Override
  public void writeOffsets(StringColumn column, long total) {
    long bytes = LongStrings.lookBackBytes(column.rows());
    column.stream().fill(column.lookBack(), (byte) 0, bytes);
    launch("state_value_offsets", column, total);
  }

  @Override
  public void writeBytes(StringColumn column) {
    launch("state_value_bytes", column, 0);
  }

  private void launch(String function, StringColumn column, long total) {
    int tiles = LongStrings.tiles(column.rows());
    try (KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
      arguments
          .put(Arguments.CHUNKS, column.chunkTable())
          .put(Arguments.STRINGS, column.strings())
          .put(Arguments.OFFSETS, column.offsets())
          .put(Arguments.BYTES, column.bytes())
          .put(Arguments.LOOK_BACK, column.lookBack() + Long.BYTES)
          .put(Arguments.NEXT_TILE, column.lookBack())
          .put(Arguments.TOTAL, total)
          .put(Arguments.FIRST_ROW, column.firstRow())
          .put(Arguments.ROWS, column.rows())
          .put(Arguments.HEAD, column.head())
          .put(Arguments.ROW_WORDS, column.rowWords())
          .put(Arguments.CHUNK_SHIFT, column.chunkShift())
          .put(Arguments.TILES, tiles)
          .put(Arguments.PADDING, 0);
      module.function(function).launch(tiles, THREADS, 0, column.stream(), arguments);
    }
  }
}
