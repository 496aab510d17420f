// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.session;

import io.millrace.device.Device;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.device.StagingBuffer;
import io.millrace.state.row.CudaKeyWord;
import io.millrace.state.row.HostKeys;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.StateAccess;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.StateSelection;
import java.util.List;

/** Launches the kernels of session.cu. One instance per device. */
final class CudaSessionKernels implements SessionKernels {
  /** The structure {@code SessionSelectArguments} of session.cu. */
  static final class SelectArguments {
    static final KernelStructure LAYOUT = new KernelStructure("SessionSelectArguments");
    static final KernelStructure.Int64 INDEX = LAYOUT.int64("index");
    static final KernelStructure.Int64 CHUNKS = LAYOUT.int64("chunks");
    static final KernelStructure.Int64 STRINGS = LAYOUT.int64("strings");
    static final KernelStructure.Int64 INDEX_BUCKETS = LAYOUT.int64("index_buckets");
    static final KernelStructure.Int64 SOURCE = LAYOUT.int64("source");
    static final KernelStructure.Int64 TARGET = LAYOUT.int64("target");
    static final KernelStructure.Int64 SCRATCH = LAYOUT.int64("scratch");
    static final KernelStructure.Int64 STARTS = LAYOUT.int64("starts");
    static final KernelStructure.Int64 LAST_TIME = LAYOUT.int64("last_time");
    static final KernelStructure.Int64 GAP = LAYOUT.int64("gap");
    static final KernelStructure.Int32 KEY_WORDS = LAYOUT.int32("key_words");
    static final KernelStructure.Int32 HAS_NULL_WORD = LAYOUT.int32("has_null_word");
    static final KernelStructure.Int32 ROW_WORDS = LAYOUT.int32("row_words");
    static final KernelStructure.Int32 CHUNK_SHIFT = LAYOUT.int32("chunk_shift");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 TILES = LAYOUT.int32("tiles");
    static final KernelStructure.Int32 LAST_WORD = LAYOUT.int32("last_word");
    static final KernelStructure.Int32 FIRST_WORD = LAYOUT.int32("first_word");
    static final KernelStructure.Int32 TAILS = LAYOUT.int32("tails");
    static final KernelStructure.Int32 CONTINUED = LAYOUT.int32("continued");
    static final KernelStructure.Int32 START_WORD = LAYOUT.int32("start_word");
    static final KernelStructure.Int32 PADDING = LAYOUT.int32("padding");
    static final KernelStructure.Array KEY =
        LAYOUT.array("key", CudaKeyWord.LAYOUT, StateSchema.MAX_KEY_WORDS);

    private SelectArguments() {}
  }

  /** The structure {@code SessionClearArguments} of session.cu. */
  static final class ClearArguments {
    static final KernelStructure LAYOUT = new KernelStructure("SessionClearArguments");
    static final KernelStructure.Int64 SOURCE = LAYOUT.int64("source");
    static final KernelStructure.Int64 PAGE_EPOCHS = LAYOUT.int64("page_epochs");
    static final KernelStructure.Int64 EPOCH = LAYOUT.int64("epoch");
    static final KernelStructure.Int64 LAST_TIME = LAYOUT.int64("last_time");
    static final KernelStructure.Int64 FIRST_ROW = LAYOUT.int64("first_row");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 ROW_WORDS = LAYOUT.int32("row_words");
    static final KernelStructure.Int32 FIRST_ACCUMULATOR = LAYOUT.int32("first_accumulator");
    static final KernelStructure.Int32 LAST_WORD = LAYOUT.int32("last_word");
    static final KernelStructure.Int32 CHUNK_SHIFT = LAYOUT.int32("chunk_shift");
    static final KernelStructure.Int32 PADDING = LAYOUT.int32("padding");

    private ClearArguments() {}
  }

  /** The structure {@code SessionTouchArguments} of session.cu. */
  static final class TouchArguments {
    static final KernelStructure LAYOUT = new KernelStructure("SessionTouchArguments");
    static final KernelStructure.Int64 INDEX = LAYOUT.int64("index");
    static final KernelStructure.Int64 CHUNKS = LAYOUT.int64("chunks");
    static final KernelStructure.Int64 STRINGS = LAYOUT.int64("strings");
    static final KernelStructure.Int64 INDEX_BUCKETS = LAYOUT.int64("index_buckets");
    static final KernelStructure.Int64 TIMES = LAYOUT.int64("times");
    static final KernelStructure.Int64 NUMBERS = LAYOUT.int64("numbers");
    static final KernelStructure.Int64 GAP = LAYOUT.int64("gap");
    static final KernelStructure.Int32 KEY_WORDS = LAYOUT.int32("key_words");
    static final KernelStructure.Int32 HAS_NULL_WORD = LAYOUT.int32("has_null_word");
    static final KernelStructure.Int32 ROW_WORDS = LAYOUT.int32("row_words");
    static final KernelStructure.Int32 CHUNK_SHIFT = LAYOUT.int32("chunk_shift");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 NUMBER = LAYOUT.int32("number");
    static final KernelStructure.Int32 LAST_WORD = LAYOUT.int32("last_word");
    static final KernelStructure.Int32 FIRST_WORD = LAYOUT.int32("first_word");
    static final KernelStructure.Array KEY =
        LAYOUT.array("key", CudaKeyWord.LAYOUT, StateSchema.MAX_KEY_WORDS);

    private TouchArguments() {}
  }

  private static final int THREADS = LongStrings.TILE_ROWS;

  // The rows, the words of their long strings, the other rows, the complement of the least last
  // time
  // of open sessions, the next tile; then the look-back.
  private static final int COUNTS = 5;

  private final KernelModule module;

  CudaSessionKernels(Device device) {
    module = device.loadModule("session");
  }

  static long scratchBytes(int rows) {
    return (COUNTS + (long) LongStrings.tiles(rows)) * Long.BYTES;
  }

  @Override
  public SessionCounts select(Selection selection) {
    Rows rows = selection.rows();
    SessionSchema schema = rows.schema();
    StateAccess next = selection.next();
    int tiles = LongStrings.tiles(rows.count());
    try (StagingBuffer counts = rows.stream().device().stagingPool().acquire(COUNTS * Long.BYTES);
        KernelArguments arguments = new KernelArguments(SelectArguments.LAYOUT)) {
      arguments
          .put(SelectArguments.INDEX, next == null ? 0 : next.index())
          .put(SelectArguments.CHUNKS, next == null ? 0 : next.chunkTable())
          .put(SelectArguments.STRINGS, next == null ? 0 : next.keyStrings())
          .put(
              SelectArguments.INDEX_BUCKETS, next == null ? 0 : HostKeys.buckets(next.indexSlots()))
          .put(SelectArguments.SOURCE, rows.address())
          .put(SelectArguments.TARGET, selection.target())
          .put(SelectArguments.SCRATCH, selection.scratch())
          .put(SelectArguments.STARTS, selection.starts())
          .put(SelectArguments.LAST_TIME, rows.lastTime())
          .put(SelectArguments.GAP, schema.gap())
          .put(SelectArguments.KEY_WORDS, selection.key().size())
          .put(SelectArguments.HAS_NULL_WORD, 0)
          .put(SelectArguments.ROW_WORDS, schema.state().rowWords())
          .put(SelectArguments.CHUNK_SHIFT, next == null ? 0 : next.chunkShift())
          .put(SelectArguments.ROWS, rows.count())
          .put(SelectArguments.TILES, tiles)
          .put(SelectArguments.LAST_WORD, schema.lastWord())
          .put(SelectArguments.FIRST_WORD, schema.firstWord())
          .put(SelectArguments.TAILS, tails(schema.state()))
          .put(SelectArguments.CONTINUED, selection.continued() ? 1 : 0)
          .put(SelectArguments.START_WORD, schema.startWord());
      putKey(arguments, SelectArguments.KEY, selection.key());
      rows.stream().fill(selection.scratch(), (byte) 0, scratchBytes(rows.count()));
      module.function("session_select").launch(tiles, THREADS, 0, rows.stream(), arguments);
      rows.stream().copy(counts.address(), selection.scratch(), COUNTS * Long.BYTES);
      rows.stream().synchronize();
      return counts(counts.address());
    }
  }

  private static SessionCounts counts(long address) {
    return new SessionCounts(
        new StateSelection.Counts(
            (int) HostMemory.getLong(address), HostMemory.getLong(address + Long.BYTES)),
        (int) HostMemory.getLong(address + 2 * Long.BYTES),
        SessionSchema.lastTime(~HostMemory.getLong(address + 3 * Long.BYTES)));
  }

  private static int tails(StateSchema schema) {
    int tails = 0;
    for (int tail : schema.tails()) {
      tails |= 1 << tail;
    }
    return tails;
  }

  private static void putKey(
      KernelArguments arguments, KernelStructure.Array array, List<KeyWord> key) {
    for (int i = 0; i < key.size(); i++) {
      CudaKeyWord.put(arguments, array.at(i), key.get(i));
    }
  }

  @Override
  public void clear(Rows rows, StateAccess access, long firstRow) {
    StateSchema state = rows.schema().state();
    try (KernelArguments arguments = new KernelArguments(ClearArguments.LAYOUT)) {
      arguments
          .put(ClearArguments.SOURCE, rows.address())
          .put(ClearArguments.PAGE_EPOCHS, access.pageEpochs())
          .put(ClearArguments.EPOCH, access.epoch())
          .put(ClearArguments.LAST_TIME, rows.lastTime())
          .put(ClearArguments.FIRST_ROW, firstRow)
          .put(ClearArguments.ROWS, rows.count())
          .put(ClearArguments.ROW_WORDS, state.rowWords())
          .put(ClearArguments.FIRST_ACCUMULATOR, state.firstAccumulator())
          .put(ClearArguments.LAST_WORD, rows.schema().lastWord())
          .put(ClearArguments.CHUNK_SHIFT, access.chunkShift());
      int blocks = LongStrings.tiles(rows.count());
      module.function("session_clear").launch(blocks, THREADS, 0, rows.stream(), arguments);
    }
  }

  @Override
  public void touch(Touches touches) {
    StateAccess table = touches.table();
    SessionSchema schema = touches.schema();
    try (KernelArguments arguments = new KernelArguments(TouchArguments.LAYOUT)) {
      arguments
          .put(TouchArguments.INDEX, table.index())
          .put(TouchArguments.CHUNKS, table.chunkTable())
          .put(TouchArguments.STRINGS, table.keyStrings())
          .put(TouchArguments.INDEX_BUCKETS, HostKeys.buckets(table.indexSlots()))
          .put(TouchArguments.TIMES, touches.times())
          .put(TouchArguments.NUMBERS, touches.numbers())
          .put(TouchArguments.GAP, schema.gap())
          .put(TouchArguments.KEY_WORDS, touches.key().size())
          .put(TouchArguments.HAS_NULL_WORD, touches.hasNullWord() ? 1 : 0)
          .put(TouchArguments.ROW_WORDS, schema.state().rowWords())
          .put(TouchArguments.CHUNK_SHIFT, table.chunkShift())
          .put(TouchArguments.ROWS, touches.rows())
          .put(TouchArguments.NUMBER, touches.number())
          .put(TouchArguments.LAST_WORD, schema.lastWord())
          .put(TouchArguments.FIRST_WORD, schema.firstWord());
      putKey(arguments, TouchArguments.KEY, touches.key());
      int blocks = LongStrings.tiles(touches.rows());
      module.function("session_touch").launch(blocks, THREADS, 0, touches.stream(), arguments);
    }
  }
}
