// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.device.HostMemory;
import io.millrace.state.row.StateSelection.Counts;

/** The twin of state_select.cu. */
final class HostStateSelect implements StateSelection.Kernels {

  @Override
  public Counts select(StateSelection selection) {
    int rowBytes = selection.schema().rowBytes();
    int rows = 0;
    long stringWords = 0;
    for (int row = 0; row < selection.rows(); row++) {
      long address = address(selection, selection.firstRow() + row);
      if (isSelected(selection, address)) {
        if (selection.target() != 0) {
          long copy = selection.target() + (long) rows * rowBytes;
          HostMemory.copy(copy, address, rowBytes);
          long word = copy + (long) selection.firstWord() * Long.BYTES;
          HostMemory.putLong(word, HostMemory.getLong(word) + selection.added());
        }
        rows++;
        stringWords += stringWords(selection, address);
      }
    }
    return new Counts(rows, stringWords);
  }

  private static boolean isSelected(StateSelection selection, long row) {
    for (int i = 0; i < selection.words(); i++) {
      long word = row + (long) (selection.firstWord() + i) * Long.BYTES;
      if (selection.isSelected(HostMemory.getLong(word))) {
        return true;
      }
    }
    return false;
  }

  private static long address(StateSelection selection, long row) {
    int shift = selection.chunkShift();
    long chunk = HostMemory.getLong(selection.chunkTable() + (row >> shift) * Long.BYTES);
    return chunk + (row & ((1L << shift) - 1)) * selection.schema().rowBytes();
  }

  private static long stringWords(StateSelection selection, long address) {
    long words = 0;
    for (int tail : selection.schema().tails()) {
      words += LongStrings.words(HostMemory.getInt(address + (tail - 1L) * Long.BYTES));
    }
    return words;
  }
}
