// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.lookup;

import io.millrace.device.Device;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.state.row.CudaKeyWord;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.HostKeys;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.StateAccess;
import io.millrace.state.row.StateSchema;

/** Launches the kernels of state_lookup.cu. One instance per device. */
final class CudaLookupKernels implements LookupKernels {
  /** The structure {@code StateLookupArguments} of state_lookup.cu. */
  static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("StateLookupArguments");
    static final KernelStructure.Int64 INDEX = LAYOUT.int64("index");
    static final KernelStructure.Int64 CHUNKS = LAYOUT.int64("chunks");
    static final KernelStructure.Int64 STRINGS = LAYOUT.int64("strings");
    static final KernelStructure.Int64 INDEX_BUCKETS = LAYOUT.int64("index_buckets");
    static final KernelStructure.Int64 NUMBERS = LAYOUT.int64("numbers");
    static final KernelStructure.Int64 SOURCE = LAYOUT.int64("source");
    static final KernelStructure.Int64 TARGET = LAYOUT.int64("target");
    static final KernelStructure.Int64 OLDEST_TIME = LAYOUT.int64("oldest_time");
    static final KernelStructure.Int64 TIME_MASK = LAYOUT.int64("time_mask");
    static final KernelStructure.Int32 KEY_WORDS = LAYOUT.int32("key_words");
    static final KernelStructure.Int32 HAS_NULL_WORD = LAYOUT.int32("has_null_word");
    static final KernelStructure.Int32 ROW_WORDS = LAYOUT.int32("row_words");
    static final KernelStructure.Int32 CHUNK_SHIFT = LAYOUT.int32("chunk_shift");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 NUMBER_WIDTH = LAYOUT.int32("number_width");
    static final KernelStructure.Int32 SOURCE_WORDS = LAYOUT.int32("source_words");
    static final KernelStructure.Int32 FIRST_ACCUMULATOR = LAYOUT.int32("first_accumulator");
    static final KernelStructure.Array KEY =
        LAYOUT.array("key", CudaKeyWord.LAYOUT, StateSchema.MAX_KEY_WORDS);

    private Arguments() {}
  }

  private static final int THREADS = LongStrings.TILE_ROWS;

  private final KernelModule module;

  CudaLookupKernels(Device device) {
    module = device.loadModule("state_lookup");
  }

  @Override
  public void find(Keys keys, long numbers, int width) {
    try (KernelArguments arguments = arguments(keys)) {
      arguments.put(Arguments.NUMBERS, numbers).put(Arguments.NUMBER_WIDTH, width);
      launch("state_find", keys, arguments);
    }
  }

  @Override
  public void copy(Copies copies) {
    Expiry expiry = copies.expiry();
    try (KernelArguments arguments = arguments(copies.keys())) {
      arguments
          .put(Arguments.SOURCE, copies.source())
          .put(Arguments.TARGET, copies.target())
          .put(Arguments.OLDEST_TIME, expiry.oldest())
          .put(Arguments.TIME_MASK, expiry.mask())
          .put(Arguments.SOURCE_WORDS, copies.sourceWords());
      launch("state_lookup", copies.keys(), arguments);
    }
  }

  private void launch(String kernel, Keys keys, KernelArguments arguments) {
    int blocks = LongStrings.tiles(keys.rows());
    module.function(kernel).launch(blocks, THREADS, 0, keys.stream(), arguments);
  }

  private static KernelArguments arguments(Keys keys) {
    StateAccess table = keys.table();
    KernelArguments arguments = new KernelArguments(Arguments.LAYOUT);
    arguments
        .put(Arguments.INDEX, table == null ? 0 : table.index())
        .put(Arguments.CHUNKS, table == null ? 0 : table.chunkTable())
        .put(Arguments.STRINGS, table == null ? 0 : table.keyStrings())
        .put(Arguments.INDEX_BUCKETS, table == null ? 0 : HostKeys.buckets(table.indexSlots()))
        .put(Arguments.CHUNK_SHIFT, table == null ? 0 : table.chunkShift())
        .put(Arguments.KEY_WORDS, keys.key().size())
        .put(Arguments.HAS_NULL_WORD, keys.hasNullWord() ? 1 : 0)
        .put(Arguments.ROW_WORDS, keys.schema().rowWords())
        .put(Arguments.FIRST_ACCUMULATOR, keys.schema().firstAccumulator())
        .put(Arguments.ROWS, keys.rows());
    for (int i = 0; i < keys.key().size(); i++) {
      CudaKeyWord.put(arguments, Arguments.KEY.at(i), keys.key().get(i));
    }
    return arguments;
  }
}
