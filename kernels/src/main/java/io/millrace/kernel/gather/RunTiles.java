// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

/**
 * How the kernels of gather.cu share out rows of strings or lists: tiles of consecutive rows, one a
 * block.
 *
 * @param rowsOfTile rows of each tile but the last
 * @param count tiles
 * @param stripes 0 if blocks take tiles in the order of rows; otherwise the number of stripes, each
 *     of {@link #tilesOfStripe} consecutive tiles, that blocks take tiles from in turn
 */
record RunTiles(int rowsOfTile, int count, int stripes) {
  private static final int FEW_ROWS = 256;
  private static final int MANY_ROWS = 1024;
  private static final int BYTES = 1 << 16;
  private static final int TILES_PER_SUM = 256;

  // Up to here a tile of few rows gives each multiprocessor of a large GPU a block or more.
  private static final int ROWS_IN_SMALL_TILES = 1 << 18;
  // From here on the input does not stay in the second-level cache.
  private static final int ROWS_IN_STRIPES = 1 << 20;
  private static final int TILES_WORTH_A_STRIPE = 4;

  /**
   * @param rows at least 1
   * @param bytes that the rows have, or a bound
   * @param partitions how many ascending sequences of rows the map is; 1 if that is not known
   */
  static RunTiles of(int rows, long bytes, int partitions) {
    int most = rows <= ROWS_IN_SMALL_TILES ? FEW_ROWS : MANY_ROWS;
    long wanted = bytes == 0 ? most : (long) rows * BYTES / bytes;
    int rowsOfTile = (int) Math.max(1, Math.min(most, wanted));
    int count = (rows - 1) / rowsOfTile + 1;
    boolean isStriped =
        partitions > 1 && rows >= ROWS_IN_STRIPES && count / TILES_WORTH_A_STRIPE >= partitions;
    return new RunTiles(rowsOfTile, count, isStriped ? partitions : 0);
  }

  int tilesOfStripe() {
    return stripes == 0 ? count : (count - 1) / stripes + 1;
  }

  int blocks() {
    return stripes == 0 ? count : stripes * tilesOfStripe();
  }

  long scratchBytes() {
    int others = stripes == 0 ? 1 : (count - 1) / TILES_PER_SUM + 1;
    return ((long) count + others) * Long.BYTES;
  }
}
