// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.device.HostMemory;
import io.millrace.format.parquet.PageStructures.Page;
import io.millrace.format.parquet.ParquetKernels.Pages;

/** The codes of a page, in ascending order of their numbers. */
final class HostCodes {
  private static final int RUN_BYTES = 2 * Integer.BYTES;

  private final long values;
  private final int bitWidth;
  private final long mask;
  private final long lastRun;
  private long run;
  private int runStart;
  private int runEnd;
  private int place;

  HostCodes(Pages pages, long page) {
    values = pages.bytes() + PageStructures.get(page, Page.VALUES);
    bitWidth = PageStructures.get(page, Page.BIT_WIDTH);
    mask = (1L << bitWidth) - 1;
    run = pages.words() + (long) PageStructures.get(page, Page.CODE_RUN) * Integer.BYTES;
    int runs = PageStructures.get(page, Page.CODE_RUN_COUNT);
    lastRun = run + (runs - 1L) * RUN_BYTES;
    if (runs > 0) {
      open();
    }
  }

  private void open() {
    runStart = HostMemory.getInt(run);
    place = HostMemory.getInt(run + Integer.BYTES);
    runEnd = run == lastRun ? Integer.MAX_VALUE : HostMemory.getInt(run + RUN_BYTES);
  }

  /**
   * A code, of 32 bits without sign.
   *
   * @param number not below that of the call before
   */
  int at(int number) {
    while (number >= runEnd) {
      run += RUN_BYTES;
      open();
    }
    if (place < 0) {
      return ~place;
    }
    long bit = (long) (number - runStart) * bitWidth;
    // A word may be read behind the last page.
    long word = HostMemory.getLong(values + place + (bit >>> 3));
    return (int) (word >>> (bit & 7) & mask);
  }
}
