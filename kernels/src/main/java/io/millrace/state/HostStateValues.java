// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.HostMemory;
import io.millrace.state.StateValuesBatch.Constant;
import io.millrace.state.row.AccumulatorValue;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.LongStrings;
import java.util.List;

/** The twin of state_values.cu. */
final class HostStateValues implements StateValuesKernels {

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

  @Override
  public void writeOffsets(StateValuesBatch batch, StringValues strings, long total) {
    long bytes = 0;
    for (int row = 0; row < batch.rows(); row++) {
      HostMemory.putInt(strings.offsets() + (long) row * Integer.BYTES, (int) bytes);
      bytes += length(headAddress(batch, strings, row));
    }
    HostMemory.putInt(strings.offsets() + (long) batch.rows() * Integer.BYTES, (int) bytes);
    HostMemory.putLong(total, bytes);
  }

  @Override
  public void writeBytes(StateValuesBatch batch, StringValues strings) {
    long output = strings.bytes();
    for (int row = 0; row < batch.rows(); row++) {
      long head = headAddress(batch, strings, row);
      if (LongStrings.words(length(head)) > 0) {
        putLongString(strings, head, output);
      } else {
        HostMemory.copy(output, head + Integer.BYTES, length(head));
      }
      output += length(head);
    }
  }

  // Its words may lie in several chunks.
  private static void putLongString(StringValues strings, long head, long output) {
    long first = HostMemory.getLong(head + Long.BYTES);
    for (int done = 0; done < length(head); done += Long.BYTES) {
      long word = LongStrings.wordAddress(strings.strings(), first + done / Long.BYTES);
      HostMemory.copy(output + done, word, Math.min(Long.BYTES, length(head) - done));
    }
  }

  private static long headAddress(StateValuesBatch batch, StringValues strings, int row) {
    return address(batch, batch.firstRow() + row) + (long) strings.head() * Long.BYTES;
  }

  private static int length(long head) {
    return HostMemory.getInt(head);
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
