// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.state.row.CudaKeyWord;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.StateSchema;

/** Launches the kernels of state_strings.cu. One instance per device. */
final class CudaStateStrings {
  /** The structure {@code StateStringsArguments} of state_arguments.cuh. */
  static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("StateStringsArguments");
    static final KernelStructure.Int64 NEW_ROWS = LAYOUT.int64("new_rows");
    static final KernelStructure.Int64 CHUNKS = LAYOUT.int64("chunks");
    static final KernelStructure.Int64 STRINGS = LAYOUT.int64("strings");
    static final KernelStructure.Int64 LOOK_BACK = LAYOUT.int64("look_back");
    static final KernelStructure.Int64 NEXT_TILE = LAYOUT.int64("next_tile");
    static final KernelStructure.Int64 ADDED = LAYOUT.int64("added");
    static final KernelStructure.Int64 STATE_ROWS = LAYOUT.int64("state_rows");
    static final KernelStructure.Int64 STRING_WORDS = LAYOUT.int64("string_words");
    static final KernelStructure.Int32 NEW_KEYS = LAYOUT.int32("new_keys");
    static final KernelStructure.Int32 KEY_WORDS = LAYOUT.int32("key_words");
    static final KernelStructure.Int32 ROW_WORDS = LAYOUT.int32("row_words");
    static final KernelStructure.Int32 CHUNK_SHIFT = LAYOUT.int32("chunk_shift");
    static final KernelStructure.Int32 TILES = LAYOUT.int32("tiles");
    static final KernelStructure.Int32 PADDING = LAYOUT.int32("padding");
    static final KernelStructure.Array KEY =
        LAYOUT.array("key", CudaKeyWord.LAYOUT, StateSchema.MAX_KEY_WORDS);

    private Arguments() {}
  }

  private static final int THREADS = StateScratch.TILE_ROWS;

  private final Device device;

  CudaStateStrings(Device device) {
    this.device = device;
  }

  /** The kernels for keys with strings. */
  KernelModule module() {
    return device.loadModule("state_strings");
  }

  /**
   * Adds the long strings of the keys that an update added. Waits for the work.
   *
   * @param added address of an INT64 in staging memory for the words
   * @return the words that were added
   */
  long add(StateBatch batch, int newKeys, long added) {
    LongStrings.Access strings = batch.strings().keys();
    DeviceStream stream = batch.stream();
    int tiles = StateScratch.tiles(newKeys);
    stream.fill(strings.lookBack(), (byte) 0, LongStrings.lookBackBytes(newKeys));
    try (KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
      arguments
          .put(Arguments.NEW_ROWS, strings.newRows())
          .put(Arguments.CHUNKS, batch.chunkTable())
          .put(Arguments.STRINGS, strings.chunkTable())
          .put(Arguments.LOOK_BACK, strings.lookBack() + Long.BYTES)
          .put(Arguments.NEXT_TILE, strings.lookBack())
          .put(Arguments.ADDED, added)
          .put(Arguments.STATE_ROWS, batch.stateRows())
          .put(Arguments.STRING_WORDS, strings.wordCount())
          .put(Arguments.NEW_KEYS, newKeys)
          .put(Arguments.KEY_WORDS, batch.key().size())
          .put(Arguments.ROW_WORDS, batch.rowWords())
          .put(Arguments.CHUNK_SHIFT, batch.chunkShift())
          .put(Arguments.TILES, tiles);
      for (int i = 0; i < batch.key().size(); i++) {
        CudaKeyWord.put(arguments, Arguments.KEY.at(i), batch.key().get(i));
      }
      module().function("state_strings").launch(tiles, THREADS, 0, stream, arguments);
      stream.synchronize();
      return HostMemory.getLong(added);
    }
  }
}
