// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.device.HostMemory;
import io.millrace.format.parquet.PageStructures.Column;
import io.millrace.format.parquet.PageStructures.StringColumn;

/** The twin of parquet.cu. */
final class HostParquetKernels implements ParquetKernels {

  @Override
  public long scratchBytes(int rows, int strings) {
    return 0;
  }

  @Override
  public void decode(Pages pages) {
    for (int i = 0; i < pages.columnCount(); i++) {
      long column = pages.columns() + (long) i * Column.LAYOUT.bytes();
      HostColumnDecoder decoder = new HostColumnDecoder(pages, column);
      decoder.decode();
      if (decoder.hasBadCode()) {
        HostMemory.putInt(pages.badCode(i), 1);
      }
      int string = PageStructures.get(column, Column.STRING);
      if (string >= 0) {
        long total = sumLengths(PageStructures.get(column, Column.SECOND), pages.rows());
        HostMemory.putLong(pages.total(string), total);
      }
    }
  }

  // Lengths to offsets; the sum of the lengths.
  private static long sumLengths(long lengths, int rows) {
    long total = 0;
    for (int row = 0; row < rows; row++) {
      long place = lengths + (long) row * Integer.BYTES;
      int length = HostMemory.getInt(place);
      HostMemory.putInt(place, (int) total);
      total += length;
    }
    HostMemory.putInt(lengths + (long) rows * Integer.BYTES, (int) total);
    return total;
  }

  @Override
  public void copyStrings(Pages pages, long columns, int count) {
    for (int i = 0; i < count; i++) {
      long column = columns + (long) i * StringColumn.LAYOUT.bytes();
      long positions = PageStructures.get(column, StringColumn.POSITIONS);
      long offsets = PageStructures.get(column, StringColumn.OFFSETS);
      long target = PageStructures.get(column, StringColumn.TARGET);
      int offset = 0;
      for (int row = 0; row < pages.rows(); row++) {
        int end = HostMemory.getInt(offsets + (row + 1L) * Integer.BYTES);
        if (end > offset) {
          long position = HostMemory.getLong(positions + (long) row * Long.BYTES);
          HostMemory.copy(target + offset, pages.bytes() + position, end - offset);
        }
        offset = end;
      }
    }
  }
}
