// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.HostMemory;
import io.millrace.state.StateValuesBatch.Constant;
import io.millrace.state.row.AccumulatorValue;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.KeyWord;
import java.util.List;

/** The twin of state_values.cu. */
final class HostStateValues implements StateValuesBatch.Kernels {

  @Override
  public void write(StateValuesBatch batch) {
    for (int row = 0; row < batch.rows(); row++) {
      long address = address(batch, batch.firstRow() + row);
      putKey(batch, address, row);
      putValues(batch, address, row);
    }
  }

  private static long address(StateValuesBatch batch, long row) {
    long chunk = HostMemory.getLong(batch.chunkTable() + (row >> batch.chunkShift()) * Long.BYTES);
    long inChunk = row & ((1L << batch.chunkShift()) - 1);
    return chunk + inChunk * batch.rowWords() * Long.BYTES;
  }

  private static void putKey(StateValuesBatch batch, long address, int row) {
    List<KeyWord> key = batch.key();
    long nulls =
        batch.hasNullWord() ? HostMemory.getLong(address + (long) key.size() * Long.BYTES) : 0;
    for (int i = 0; i < key.size(); i++) {
      KeyWord word = key.get(i);
      // Words are little-endian: the low bytes come first.
      if (word.output() != 0) {
        HostMemory.copy(
            word.output() + (long) row * word.stride(),
            address + (long) i * Long.BYTES,
            word.width());
      }
      if (word.outputValidity() != 0) {
        HostMemory.putBit(word.outputValidity(), row, (nulls >> word.nullBit() & 1) == 0);
      }
    }
  }

  private static void putValues(StateValuesBatch batch, long address, int row) {
    int first = batch.key().size() + (batch.hasNullWord() ? 1 : 0);
    long accumulators = address + (long) first * Long.BYTES;
    List<AccumulatorValue> values = batch.values();
    for (int i = 0; i < values.size(); i++) {
      values.get(i).putResult(row, HostMemory.getLong(accumulators + (long) i * Long.BYTES));
    }
    boolean isAbsent =
        batch.rowCount() >= 0
            && HostMemory.getLong(accumulators + (long) batch.rowCount() * Long.BYTES) == 0;
    ChangeKind kind = isAbsent ? ChangeKind.NONE : ChangeKind.INSERT;
    HostMemory.putByte(batch.kinds() + row, kind.value());
    for (Constant constant : batch.constants()) {
      HostMemory.putLong(constant.output() + (long) row * Long.BYTES, constant.value());
    }
  }
}
