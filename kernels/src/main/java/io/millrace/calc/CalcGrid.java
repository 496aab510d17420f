// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

/**
 * Assigns the rows of a table to the threads of a generated kernel.
 *
 * @param iterations number of iterations per thread, each of {@link CalcProgram#rowsPerIteration}
 *     rows
 * @param tiles number of blocks; each computes a tile of consecutive rows
 * @param isResident whether all blocks fit the device at once. The tile of a block is then its
 *     block number instead of a ticket from a counter. Since a block waits for blocks of smaller
 *     numbers, this relies on the device starting blocks in order when other work leaves no room
 *     for all, as the scans of CUB do
 */
record CalcGrid(int iterations, int tiles, boolean isResident) {
  private static final int MAX_ROWS_PER_THREAD = 16;

  /**
   * Computes the grid for {@code rows} rows.
   *
   * @param rows at least one
   * @param residentBlocks number of blocks that the device runs at once
   */
  static CalcGrid of(CalcProgram program, int rows, int residentBlocks) {
    long rowsOfBlock = (long) program.rowsPerIteration() * CalcProgram.THREADS;
    int iterations = 1;
    if (program.isMultiPass()) {
      // As many iterations as keep the look-back short while the whole device is busy.
      long most = MAX_ROWS_PER_THREAD / program.rowsPerIteration();
      iterations = (int) Math.max(1, Math.min(most, rows / (rowsOfBlock * residentBlocks)));
    }
    int tiles = (int) ((rows - 1) / (iterations * rowsOfBlock) + 1);
    return new CalcGrid(iterations, tiles, tiles <= residentBlocks);
  }
}
