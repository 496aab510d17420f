// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import io.millrace.device.HostMemory;
import io.millrace.state.row.LongStrings;

/** The twin of state_value_strings.cu. */
final class HostStringColumn implements StringColumn.Kernels {
  @Override
  public void writeOffsets(StringColumn column, long total) {
    long bytes = 0;
    for (int row = 0; row < column.rows(); row++) {
      HostMemory.putInt(column.offsets() + (long) row * Integer.BYTES, (int) bytes);
      bytes += length(headAddress(column, row));
    }
    HostMemory.putInt(column.offsets() + (long) column.rows() * Integer.BYTES, (int) bytes);
    HostMemory.putLong(total, bytes);
  }

  @Override
  public void writeBytes(StringColumn column) {
    long output = column.bytes();
    for (int row = 0; row < column.rows(); row++) {
      long head = headAddress(column, row);
      if (LongStrings.words(length(head)) > 0) {
        putLongString(column, head, output);
      } else {
        HostMemory.copy(output, head + Integer.BYTES, length(head));
      }
      output += length(head);
    }
  }

  // Its words may lie in several chunks.
  private static void putLongString(StringColumn column, long head, long output) {
    long first = HostMemory.getLong(head + Long.BYTES);
    for (int done = 0; done < length(head); done += Long.BYTES) {
      long word = LongStrings.wordAddress(column.strings(), first + done / Long.BYTES);
      HostMemory.copy(output + done, word, Math.min(Long.BYTES, length(head) - done));
    }
  }

  private static long headAddress(StringColumn column, int position) {
    long row = column.firstRow() + position;
    long chunk =
        HostMemory.getLong(column.chunkTable() + (row >> column.chunkShift()) * Long.BYTES);
    long inChunk = row & ((1L << column.chunkShift()) - 1);
    return chunk + (inChunk * column.rowWords() + column.head()) * Long.BYTES;
  }

  private static int length(long head) {
    return HostMemory.getInt(head);
  }
}
