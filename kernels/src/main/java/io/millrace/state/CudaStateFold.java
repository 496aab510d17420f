// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.state.row.AccumulatorValue;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.WideValue;

/**
 * Launches the kernels of state_fold.cu, which combine values in the order of the rows: they sort
 * the rows by group, a digit at a time, and then fold each group.
 */
final class CudaStateFold {
  /** The structure {@code StateSortArguments} of state_fold.cu. */
  static final class SortArguments {
    static final KernelStructure LAYOUT = new KernelStructure("StateSortArguments");
    static final KernelStructure.Int64 SOURCE_GROUPS = LAYOUT.int64("source_groups");
    static final KernelStructure.Int64 SOURCE_ROWS = LAYOUT.int64("source_rows");
    static final KernelStructure.Int64 TARGET_GROUPS = LAYOUT.int64("target_groups");
    static final KernelStructure.Int64 TARGET_ROWS = LAYOUT.int64("target_rows");
    static final KernelStructure.Int64 COUNTS = LAYOUT.int64("counts");
    static final KernelStructure.Int64 TOTALS = LAYOUT.int64("totals");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 TILE_ROWS = LAYOUT.int32("tile_rows");
    static final KernelStructure.Int32 TILES = LAYOUT.int32("tiles");
    static final KernelStructure.Int32 SHIFT = LAYOUT.int32("shift");
    static final KernelStructure.Int32 DIGITS = LAYOUT.int32("digits");
    static final KernelStructure.Int32 PADDING = LAYOUT.int32("padding");

    private SortArguments() {}
  }

  /** The structure {@code FoldedValue} of state_fold.cuh. */
  static final class ValueArguments {
    static final KernelStructure LAYOUT = new KernelStructure("FoldedValue");
    static final KernelStructure.Int64 DATA = LAYOUT.int64("data");
    static final KernelStructure.Int64 VALIDITY = LAYOUT.int64("validity");
    static final KernelStructure.Int64 ROW_OFFSET = LAYOUT.int64("row_offset");
    static final KernelStructure.Int64 OUTPUT = LAYOUT.int64("output");
    static final KernelStructure.Int32 STRIDE = LAYOUT.int32("stride");
    static final KernelStructure.Int32 TYPE = LAYOUT.int32("type");
    static final KernelStructure.Int32 OPERATION = LAYOUT.int32("operation");
    static final KernelStructure.Int32 WORD = LAYOUT.int32("word");
    static final KernelStructure.Int64 SECOND = LAYOUT.int64("second");
    static final KernelStructure.Int64 SECOND_OUTPUT = LAYOUT.int64("second_output");
    static final KernelStructure.Int32 KIND = LAYOUT.int32("kind");
    static final KernelStructure.Int32 STRING = LAYOUT.int32("string");
    static final KernelStructure.Int64 PIECES = LAYOUT.int64("pieces");

    private ValueArguments() {}
  }

  /** The structure {@code StateFoldArguments} of state_fold.cuh. */
  static final class FoldArguments {
    static final KernelStructure LAYOUT = new KernelStructure("StateFoldArguments");
    static final KernelStructure.Int64 GROUPS = LAYOUT.int64("groups");
    static final KernelStructure.Int64 ROW_OF = LAYOUT.int64("row_of");
    static final KernelStructure.Int64 CLAIMS = LAYOUT.int64("claims");
    static final KernelStructure.Int64 POSITIONS = LAYOUT.int64("positions");
    static final KernelStructure.Int64 KINDS = LAYOUT.int64("kinds");
    static final KernelStructure.Int64 ROW_KINDS = LAYOUT.int64("row_kinds");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 VALUES = LAYOUT.int32("values");
    static final KernelStructure.Int32 ROW_COUNT = LAYOUT.int32("row_count");
    static final KernelStructure.Int32 STRINGS_OF_KEY = LAYOUT.int32("strings_of_key");
    static final KernelStructure.Int64 COUNTED = LAYOUT.int64("counted");
    static final KernelStructure.Int64 COUNTED_OFFSET = LAYOUT.int64("counted_offset");
    static final KernelStructure.Int64 STRINGS = LAYOUT.int64("strings");
    static final KernelStructure.Int64 MOVES = LAYOUT.int64("moves");
    static final KernelStructure.Array VALUE =
        LAYOUT.array("value", ValueArguments.LAYOUT, StateSchema.MAX_ACCUMULATOR_WORDS);

    private FoldArguments() {}
  }

  private static final int SORT_WARPS = 8;
  private static final int WARP = 32;
  private static final int SORT_THREADS = SORT_WARPS * WARP;
  private static final int SCAN_THREADS = 256;
  private static final int FOLD_THREADS = 256;
  private static final int MAX_DIGIT_BITS = 8;
  private static final int MIN_TILE_ROWS = 512;
  // As many as a block of the scan adds up.
  private static final int MAX_TILES = 1024;
  private static final int ARRAYS = 4;
  private static final long TOTALS_BYTES = Integer.BYTES << MAX_DIGIT_BITS;

  private final KernelModule module;

  CudaStateFold(Device device) {
    module = device.loadModule("state_fold");
  }

  private static long arrayBytes(int rows) {
    return ((long) rows * Integer.BYTES + WARP - 1) / WARP * WARP;
  }

  private static int tileRows(int rows) {
    int most = (rows - 1) / MAX_TILES + 1;
    return Math.max(MIN_TILE_ROWS, (most + WARP - 1) / WARP * WARP);
  }

  private static int tiles(int rows) {
    return (rows - 1) / tileRows(rows) + 1;
  }

  /**
   * Bytes of the memory to sort up to {@code rows} rows: two arrays of groups and two of row
   * numbers, and the counts of each digit, in all tiles and in each.
   */
  static long sortBytes(int rows) {
    return ARRAYS * arrayBytes(rows)
        + TOTALS_BYTES
        + ((long) MAX_TILES << MAX_DIGIT_BITS) * Integer.BYTES;
  }

  /** Folds the rows of a batch behind its update. Enqueued. */
  void fold(StateBatch batch) {
    long claims = batch.scratch() + batch.scratchLayout().claims();
    long arrays = batch.scratch() + batch.scratchLayout().sort();
    Rows sorted = sort(new Rows(claims, 0), arrays, 0, bits(batch.rows() - 1L), batch);
    fold(batch, sorted);
  }

  private static int bits(long number) {
    return Math.max(1, Long.SIZE - Long.numberOfLeadingZeros(number));
  }

  /**
   * Rows of a batch and a number of each, as addresses.
   *
   * @param groups of an INT32 for each row; of its claim, an INT64, if {@code rows} is 0
   * @param rows of an INT32 for each row, its position in the batch; 0 if the rows are in order
   */
  record Rows(long groups, long rows) {}

  /** What {@code state_hash} writes, or {@code state_group} if rows are staged. */
  static Rows stagedRows(StateBatch batch) {
    long bytes = arrayBytes(batch.rows());
    long groups = batch.staged().sort() + 2 * bytes;
    return new Rows(groups, groups + bytes);
  }

  /**
   * Sorts the staged rows by the numbers of their state rows, which then nearly ascend: rows of
   * neighbouring pages of memory are neighbours. Enqueued.
   */
  Rows sortStaged(StateBatch batch) {
    int bits = bits(batch.stateRows());
    int firstBit = Math.max(0, bits - 2 * MAX_DIGIT_BITS);
    return sort(stagedRows(batch), batch.staged().sort(), firstBit, bits - firstBit, batch);
  }

  /**
   * Sorts the rows by the hashes of their keys, which then nearly ascend: buckets of the index in
   * neighbouring pages of memory are neighbours. Rows with the same hash stay in their order. The
   * result is where the hashes were. Enqueued.
   */
  Rows sortByHash(StateBatch batch) {
    int bits = 2 * MAX_DIGIT_BITS;
    return sort(stagedRows(batch), batch.staged().sort(), Integer.SIZE - bits, bits, batch);
  }

  // Rows are read from the second pair of arrays, if from any.
  private Rows sort(Rows unsorted, long arrays, int firstBit, int bits, StateBatch batch) {
    int passes = (bits - 1) / MAX_DIGIT_BITS + 1;
    int digitBits = (bits - 1) / passes + 1;
    long bytes = arrayBytes(batch.rows());
    long groups = unsorted.groups();
    long rows = unsorted.rows();
    for (int pass = 0; pass < passes; pass++) {
      long targetGroups = arrays + (pass % 2 == 0 ? 0 : 2 * bytes);
      long targetRows = targetGroups + bytes;
      try (KernelArguments arguments = new KernelArguments(SortArguments.LAYOUT)) {
        arguments
            .put(SortArguments.SOURCE_GROUPS, groups)
            .put(SortArguments.SOURCE_ROWS, rows)
            .put(SortArguments.TARGET_GROUPS, targetGroups)
            .put(SortArguments.TARGET_ROWS, targetRows)
            .put(SortArguments.TOTALS, arrays + ARRAYS * bytes)
            .put(SortArguments.COUNTS, arrays + ARRAYS * bytes + TOTALS_BYTES)
            .put(SortArguments.ROWS, batch.rows())
            .put(SortArguments.TILE_ROWS, tileRows(batch.rows()))
            .put(SortArguments.TILES, tiles(batch.rows()))
            .put(SortArguments.SHIFT, firstBit + pass * digitBits)
            .put(SortArguments.DIGITS, 1 << digitBits);
        sortDigit(arguments, 1 << digitBits, batch);
      }
      groups = targetGroups;
      rows = targetRows;
    }
    return new Rows(groups, rows);
  }

  private void sortDigit(KernelArguments arguments, int digits, StateBatch batch) {
    DeviceStream stream = batch.stream();
    int blocks = (tiles(batch.rows()) - 1) / SORT_WARPS + 1;
    module.function("state_sort_count").launch(blocks, SORT_THREADS, 0, stream, arguments);
    module.function("state_sort_scan").launch(digits, SCAN_THREADS, 0, stream, arguments);
    module.function("state_sort_move").launch(blocks, SORT_THREADS, 0, stream, arguments);
  }

  private void fold(StateBatch batch, Rows sorted) {
    StateScratch scratch = batch.scratchLayout();
    int first = batch.firstAccumulator();
    boolean counts = batch.rowCount() >= 0;
    AccumulatorValue rowCount = counts ? batch.values().get(batch.rowCount()) : null;
    try (KernelArguments arguments = new KernelArguments(FoldArguments.LAYOUT)) {
      int values = 0;
      int strings = 0;
      int lists = 0;
      for (int word = 0; word < batch.values().size(); word++) {
        AccumulatorValue value = batch.values().get(word);
        if (value.isFirstOrdered()) {
          int at = FoldArguments.VALUE.at(values);
          put(arguments, at, value, first + word, batch.kinds() != 0);
          if (value.isWide()) {
            AccumulatorValue second = batch.values().get(word + 1);
            putWide(arguments, at, second, strings);
            strings += second.type() == WideValue.STRING ? 1 : 0;
            if (new WideValue(value, second).isList()) {
              long pieces = batch.strings().values().pieces(lists++, batch.rows());
              arguments.put(at, ValueArguments.PIECES, pieces);
            }
          }
          values++;
        }
      }
      arguments
          .put(FoldArguments.GROUPS, sorted.groups())
          .put(FoldArguments.ROW_OF, sorted.rows())
          .put(FoldArguments.CLAIMS, batch.scratch() + scratch.claims())
          .put(FoldArguments.POSITIONS, batch.scratch() + scratch.positions())
          .put(FoldArguments.KINDS, batch.kinds())
          .put(FoldArguments.ROW_KINDS, batch.rowKinds())
          .put(FoldArguments.ROWS, batch.rows())
          .put(FoldArguments.VALUES, values)
          .put(FoldArguments.ROW_COUNT, counts ? first + batch.rowCount() : -1)
          .put(FoldArguments.STRINGS_OF_KEY, strings)
          .put(FoldArguments.STRINGS, batch.strings().values().chunkTable())
          .put(FoldArguments.MOVES, batch.strings().values().moves())
          .put(FoldArguments.COUNTED, counts ? rowCount.validity() : 0)
          .put(FoldArguments.COUNTED_OFFSET, counts ? rowCount.rowOffset() : 0);
      int blocks = (batch.rows() - 1) / FOLD_THREADS + 1;
      module.function("state_fold").launch(blocks, FOLD_THREADS, 0, batch.stream(), arguments);
    }
  }

  private static void putWide(
      KernelArguments arguments, int at, AccumulatorValue second, int string) {
    arguments
        .put(at, ValueArguments.SECOND, second.data())
        .put(at, ValueArguments.SECOND_OUTPUT, second.output())
        .put(at, ValueArguments.KIND, second.type())
        .put(at, ValueArguments.STRING, string);
  }

  private static void put(
      KernelArguments arguments, int at, AccumulatorValue value, int word, boolean hasResult) {
    arguments
        .put(at, ValueArguments.DATA, value.data())
        .put(at, ValueArguments.VALIDITY, value.validity())
        .put(at, ValueArguments.ROW_OFFSET, value.rowOffset())
        .put(at, ValueArguments.OUTPUT, hasResult ? value.output() : 0)
        .put(at, ValueArguments.STRIDE, value.stride())
        .put(at, ValueArguments.TYPE, value.type())
        .put(at, ValueArguments.OPERATION, value.operation())
        .put(at, ValueArguments.WORD, word);
  }
}
