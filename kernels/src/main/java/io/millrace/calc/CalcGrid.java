// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

/**
 * How the rows of a table are shared out to the threads of a generated kernel.
 *
 * @param iterations how often each thread computes {@link CalcProgram#rowsPerIteration} rows
 * @param tiles blocks, each of which computes a tile: rows that follow each other
 * @param isResident whether the device can run all blocks at once. A block's tile is its number
 *     then, without a counter that hands out tiles: as blocks wait for those of smaller numbers,
 *     this relies on the device starting blocks in the order of their numbers where other work
 *     leaves no room for all, as the scans of CUB do
 */
record CalcGrid(int iterations, int tiles, boolean isResident) {
  private static final int MAX_ROWS_PER_THREAD = 16;

  /**
   * The grid for {@code rows} rows.
   *
   * @param rows at least one
   * @param residentBlocks blocks that the device runs at once
   */
  static CalcGrid of(CalcProgram program, int rows, int residentBlocks) {
    long rowsOfBlock = (long) program.rowsPerIteration() * CalcProgram.THREADS;
    int iterations = 1;
    if (program.isMultiPass()) {
      // As many as keep the look-back short, as long as all of the device has work.
      long most = MAX_ROWS_PER_THREAD / program.rowsPerIteration();
      iterations = (int) Math.max(1, Math.min(most, rows / (rowsOfBlock * residentBlocks)));
    }
    int tiles = (int) ((rows - 1) / (iterations * rowsOfBlock) + 1);
    return new CalcGrid(iterations, tiles, tiles <= residentBlocks);
  }
}
