// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

/**
 * The tiles of consecutive rows into which the kernels of gather.cu divide strings or lists, one
 * per block.
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

  // Up to this number tiles of few rows give each multiprocessor of a large GPU at least one block.
  private static final int ROWS_IN_SMALL_TILES = 1 << 18;
  // From this number on the input does not fit the second-level cache.
  private static final int ROWS_IN_STRIPES = 1 << 20;
  private static final int TILES_WORTH_A_STRIPE = 4;

  /**
   * @param rows at least 1
   * @param bytes of the rows, or an upper bound
   * @param partitions the number of ascending sequences of rows that the map consists of; 1 if
   *     unknown
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

  /** {@link #scratchBytes} of up to {@code rows} rows of up to {@code bytes} bytes, at most. */
  static long mostScratchBytes(int rows, long bytes) {
    // Tiles that are not full of rows have more than half of BYTES.
    long tiles = Math.min(rows, rows / FEW_ROWS + 2 * bytes / BYTES + 2);
    return (tiles + 1) * Long.BYTES;
  }

  long scratchBytes() {
    int others = stripes == 0 ? 1 : (count - 1) / TILES_PER_SUM + 1;
    return ((long) count + others) * Long.BYTES;
  }
}
