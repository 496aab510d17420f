// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

/**
 * The layout of the scratch memory of updates: a hash table of the keys of a batch with the
 * accumulators of each key, and what the kernels need to number them. The hash table is zero before
 * and after each update. Offsets are in bytes.
 *
 * <p>The first rows of the keys lie apart from the accumulators: all rows read the former, which
 * stay in the GPU's cache, and only the first row of a key reads the latter.
 *
 * @param partials words for the accumulators of each slot, behind an INT32 for the first row of
 *     each slot's key, plus 1
 * @param partialWords words of a slot in {@code partials}
 * @param zeroBytes bytes of the hash table, from the beginning on
 * @param lookBack an INT64 for each tile of the kernel state_update
 * @param nextTile an INT32
 * @param groupOf an INT32 for each row
 */
record StateScratch(
    long partials,
    int partialWords,
    long zeroBytes,
    long lookBack,
    long nextTile,
    long groupOf,
    long bytes) {
  /** Rows of a tile: the threads of a block. */
  static final int TILE_ROWS = 256;

  private static final int SECTOR_WORDS = 4;

  /**
   * The layout for batches of up to {@code rows} rows.
   *
   * @param accumulatorWords words of the accumulators of a key
   */
  static StateScratch of(int rows, int accumulatorWords) {
    int partialWords = partialWords(accumulatorWords);
    long partials = (long) groups(rows) * Integer.BYTES;
    long zeroBytes = partials + (long) groups(rows) * partialWords * Long.BYTES;
    long nextTile = zeroBytes + (long) tiles(rows) * Long.BYTES;
    long groupOf = nextTile + Long.BYTES;
    return new StateScratch(
        partials,
        partialWords,
        zeroBytes,
        zeroBytes,
        nextTile,
        groupOf,
        groupOf + (long) rows * Integer.BYTES);
  }

  // A slot lies in as few sectors of memory as it can.
  private static int partialWords(int words) {
    return words < SECTOR_WORDS
        ? Integer.highestOneBit(Math.max(1, 2 * words - 1))
        : (words + SECTOR_WORDS - 1) / SECTOR_WORDS * SECTOR_WORDS;
  }

  /** Slots of the hash table for a batch of {@code rows} rows: a power of two. */
  static int groups(int rows) {
    return Integer.highestOneBit(Math.max(rows, 2) - 1) << 2;
  }

  static int tiles(int rows) {
    return (rows - 1) / TILE_ROWS + 1;
  }
}
