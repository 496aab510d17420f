// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.state.row.LongStrings;

/** Launches the kernels of state_moves.cu. One instance per device. */
final class CudaStringMoves implements StringMoves.Kernels {
  /** The structure {@code StateMovesArguments} of state_moves.cu. */
  static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("StateMovesArguments");
    static final KernelStructure.Int64 MOVES = LAYOUT.int64("moves");
    static final KernelStructure.Int64 STRINGS = LAYOUT.int64("strings");
    static final KernelStructure.Int64 COUNTS = LAYOUT.int64("counts");
    static final KernelStructure.Int64 LOOK_BACK = LAYOUT.int64("look_back");
    static final KernelStructure.Int64 NEXT_TILE = LAYOUT.int64("next_tile");
    static final KernelStructure.Int64 FIRST_WORD = LAYOUT.int64("first_word");
    static final KernelStructure.Int32 COUNT = LAYOUT.int32("count");
    static final KernelStructure.Int32 TILES = LAYOUT.int32("tiles");

    private Arguments() {}
  }

  /** The structure {@code StateFillArguments} of state_moves.cu. */
  static final class FillArguments {
    static final KernelStructure LAYOUT = new KernelStructure("StateFillArguments");
    static final KernelStructure.Int64 MOVES = LAYOUT.int64("moves");
    static final KernelStructure.Int64 CHUNKS = LAYOUT.int64("chunks");
    static final KernelStructure.Int64 STRINGS = LAYOUT.int64("strings");
    static final KernelStructure.Int64 FIRST_ROW = LAYOUT.int64("first_row");
    static final KernelStructure.Int64 TAILS = LAYOUT.int64("tails");
    static final KernelStructure.Int64 MORE_TAILS = LAYOUT.int64("more_tails");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 ROW_WORDS = LAYOUT.int32("row_words");
    static final KernelStructure.Int32 CHUNK_SHIFT = LAYOUT.int32("chunk_shift");
    static final KernelStructure.Int32 TAIL_COUNT = LAYOUT.int32("tail_count");

    private FillArguments() {}
  }

  private static final int THREADS = LongStrings.TILE_ROWS;

  private final KernelModule module;

  CudaStringMoves(Device device) {
    module = device.loadModule("state_moves");
  }

  @Override
  public void move(StringMoves moves) {
    int tiles = LongStrings.tiles(moves.count());
    long lookBack = moves.scratch() + StringMoves.COUNT_BYTES;
    moves.stream().fill(moves.scratch(), (byte) 0, StringMoves.scratchBytes(moves.count()));
    try (KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
      arguments
          .put(Arguments.MOVES, moves.moves())
          .put(Arguments.STRINGS, moves.target())
          .put(Arguments.COUNTS, moves.scratch())
          .put(Arguments.LOOK_BACK, lookBack + Long.BYTES)
          .put(Arguments.NEXT_TILE, lookBack)
          .put(Arguments.FIRST_WORD, moves.firstWord())
          .put(Arguments.COUNT, moves.count())
          .put(Arguments.TILES, tiles);
      module.function("state_moves").launch(tiles, THREADS, 0, moves.stream(), arguments);
    }
  }

  @Override
  public void fill(StoredStrings strings, long moves, DeviceStream stream) {
    // A row has less than 128 words.
    long[] tails = new long[2];
    strings.tails().forEach(tail -> tails[tail / Long.SIZE] |= 1L << tail);
    try (KernelArguments arguments = new KernelArguments(FillArguments.LAYOUT)) {
      arguments
          .put(FillArguments.MOVES, moves)
          .put(FillArguments.CHUNKS, strings.chunkTable())
          .put(FillArguments.STRINGS, strings.strings())
          .put(FillArguments.FIRST_ROW, strings.firstRow())
          .put(FillArguments.TAILS, tails[0])
          .put(FillArguments.MORE_TAILS, tails[1])
          .put(FillArguments.ROWS, strings.rows())
          .put(FillArguments.ROW_WORDS, strings.rowWords())
          .put(FillArguments.CHUNK_SHIFT, strings.chunkShift())
          .put(FillArguments.TAIL_COUNT, strings.tails().size());
      int blocks = LongStrings.tiles(strings.rows());
      module.function("state_moves_fill").launch(blocks, THREADS, 0, stream, arguments);
    }
  }
}
