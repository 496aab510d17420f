// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.state.row.LongStrings;

/**
 * The layout of the scratch memory of updates: a hash table of the keys of a batch, arrays that
 * hold what belongs to a key at the row of its claimant, the row that came first to the hash table,
 * and what the kernels need to number keys. Offsets are in bytes.
 *
 * @param groups the hash table: for each slot an INT64, the hash of a key and its claimant plus 1;
 *     zero before and after each update
 * @param claims an INT64 for each row: what it is to its key
 * @param followers an INT64 for each claimant: a number that is larger in later batches
 * @param partials {@code partialWords} words for each claimant: what was accumulated over the
 *     further rows, laid out as the state row from the sector of the first accumulator on; zero
 *     before and after each update
 * @param zeroBytes bytes that are zero before the first update, from the beginning on
 * @param lookBack an INT64 for each tile of the kernel state_update
 * @param nextTile an INT32
 * @param positions an INT32 for each claimant: the number of the changed key; 0 if no values are
 *     combined in the order of the rows
 * @param sort room to sort the rows by their groups, for as many rows; see {@link CudaStateFold}
 */
record StateScratch(
    long groups,
    long claims,
    long followers,
    long partials,
    int partialWords,
    long zeroBytes,
    long lookBack,
    long nextTile,
    long positions,
    long sort,
    long bytes) {
  /** Rows of a tile: the threads of a block. */
  static final int TILE_ROWS = LongStrings.TILE_ROWS;

  private static final int MAX_ROWS = 1 << 29;
  private static final int MAX_ROWS_OF_CACHED_TABLE = 1 << 17;
  // Of batches with more rows, the kernels put the partials of neighbouring rows apart, within so
  // many rows.
  private static final long PARTIAL_PAGE_ROWS = 4096;
  private static final long SECTOR_BYTES = 32;

  /**
   * The layout for batches of up to {@code rows} rows.
   *
   * @param partialWords whole sectors
   * @param isOrdered whether values are combined in the order of the rows
   */
  static StateScratch of(int rows, int partialWords, boolean isOrdered) {
    long claims = (long) groups(rows) * Long.BYTES;
    long followers = claims + sectors((long) rows * Long.BYTES);
    long partials = followers + sectors((long) rows * Long.BYTES);
    long zeroBytes = partials + partialRows(rows) * partialWords * Long.BYTES;
    long nextTile = zeroBytes + sectors((long) tiles(rows) * Long.BYTES);
    long positions = nextTile + SECTOR_BYTES;
    long sort = positions + (isOrdered ? sectors((long) rows * Integer.BYTES) : 0);
    return new StateScratch(
        0,
        claims,
        followers,
        partials,
        partialWords,
        zeroBytes,
        zeroBytes,
        nextTile,
        isOrdered ? positions : 0,
        sort,
        sort + (isOrdered ? CudaStateFold.sortBytes(rows) : 0));
  }

  private static long partialRows(int rows) {
    long pages = (rows + PARTIAL_PAGE_ROWS - 1) / PARTIAL_PAGE_ROWS;
    return rows < PARTIAL_PAGE_ROWS ? rows : pages * PARTIAL_PAGE_ROWS;
  }

  private static long sectors(long bytes) {
    return (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
  }

  /**
   * Slots of the hash table for a batch of {@code rows} rows: a power of two, at least 4. Tables
   * that stay in the GPU's cache are emptier, so that fewer searches go on to a second bucket.
   *
   * @throws IllegalArgumentException if there are more rows than half of the slots of the largest
   *     table
   */
  static int groups(int rows) {
    if (rows > MAX_ROWS) {
      throw new IllegalArgumentException(
          "expected at most " + MAX_ROWS + " rows in a batch, got " + rows);
    }
    int shift = rows <= MAX_ROWS_OF_CACHED_TABLE ? 3 : 2;
    return Integer.highestOneBit(Math.max(rows, 2) - 1) << shift;
  }

  static int tiles(int rows) {
    return LongStrings.tiles(rows);
  }
}
