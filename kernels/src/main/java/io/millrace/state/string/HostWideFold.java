// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import io.millrace.device.HostMemory;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.WideValue;
import java.util.Arrays;

/** The twin of state_wide.cuh: chooses the row whose value of two words is kept for each key. */
final class HostWideFold implements HostValueFold {
  private static final int NO_ROW = -1;

  private final WideValue value;
  private final Moves moves;
  private final boolean hasResult;
  // By the claimant of a key.
  private final int[] chosen;

  HostWideFold(WideValue value, int rows, Moves moves, boolean hasResult) {
    this.value = value;
    this.moves = moves;
    this.hasResult = hasResult;
    this.chosen = new int[rows];
    Arrays.fill(chosen, NO_ROW);
  }

  @Override
  public void add(int row, int claimant) {
    if (value.isNull(row)) {
      return;
    }
    if (chosen[claimant] == NO_ROW || value.replaces(row, chosen[claimant])) {
      chosen[claimant] = row;
    }
  }

  @Override
  public boolean put(int claimant, long words, long position) {
    int row = chosen[claimant];
    boolean isReplaced =
        row != NO_ROW && value.replacesStored(row, words, moves.access().chunkTable());
    if (isReplaced) {
      value.put(row, words);
    }
    if (value.isString()) {
      putMove(isReplaced ? row : NO_ROW, words, position);
    }
    return isReplaced;
  }

  private void putMove(int row, long words, long position) {
    long move = moves.address(position);
    int length = row == NO_ROW ? 0 : value.length(row);
    if (LongStrings.words(length) == 0) {
      HostMemory.putInt(move + StringMoves.LENGTH, 0);
      return;
    }
    long output = value.second().output() + (position + 1) * 2 * Long.BYTES;
    HostMemory.putLong(move, value.source(row));
    HostMemory.putLong(move + StringMoves.CHUNKS, value.sourceChunks(row));
    HostMemory.putLong(move + StringMoves.TAIL, words + Long.BYTES);
    HostMemory.putLong(move + StringMoves.OTHER_TAIL, hasResult ? output : 0);
    HostMemory.putInt(move + StringMoves.LENGTH, length);
    HostMemory.putInt(move + StringMoves.FIRST_LENGTH, length);
  }
}
