// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

/**
 * The scratch memory of one update: a hash table of the keys of the batch with the accumulators of
 * each key, and what the kernels need to number them. Offsets are in bytes.
 *
 * @param groups slots of the hash table, a power of two; an INT32 each
 * @param partials an INT64 for each accumulator and slot
 * @param lookBack an INT64 for each tile of the kernel state_update
 * @param nextTile an INT32
 * @param zeroBytes how many bytes are zero before the update
 * @param groupOf an INT32 for each row
 */
record StateScratch(
    int groups,
    int tiles,
    long partials,
    long lookBack,
    long nextTile,
    long zeroBytes,
    long groupOf,
    long bytes) {
  /** Rows of a tile: the threads of a block. */
  static final int TILE_ROWS = 256;

  static StateScratch of(int rows, int accumulators) {
    int groups = Integer.highestOneBit(Math.max(rows, 2) - 1) << 2;
    int tiles = (rows - 1) / TILE_ROWS + 1;
    long partials = (long) groups * Integer.BYTES;
    long lookBack = partials + (long) accumulators * groups * Long.BYTES;
    long nextTile = lookBack + (long) tiles * Long.BYTES;
    long zeroBytes = nextTile + Long.BYTES;
    return new StateScratch(
        groups,
        tiles,
        partials,
        lookBack,
        nextTile,
        zeroBytes,
        zeroBytes,
        zeroBytes + (long) rows * Integer.BYTES);
  }
}
