// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import java.util.stream.IntStream;

/**
 * The row counts with which every kernel is tested: around the rows of a validity mask's word, of a
 * warp, of a block and of many blocks.
 */
public final class RowCounts {
  private RowCounts() {}

  public static IntStream all() {
    return IntStream.of(0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 70_001);
  }
}
