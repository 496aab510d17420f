// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import io.millrace.device.HostMemory;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.WideValue;
import java.util.Arrays;

/** The twin of state_list.cuh: finds the pieces of each key's string. */
final class HostListFold implements HostValueFold {
  private static final int NO_ROW = -1;
  private static final int PREFIX_BYTES = 4;

  private final WideValue value;
  private final Moves moves;
  private final boolean hasResult;
  // The rows with values, of a key by its claimant.
  private final int[] first;
  private final int[] last;
  private final int[] next;
  private long nextPiece;

  HostListFold(WideValue value, int rows, Moves moves, boolean hasResult) {
    this.value = value;
    this.moves = moves;
    this.hasResult = hasResult;
    this.first = new int[rows];
    this.last = new int[rows];
    this.next = new int[rows];
    Arrays.fill(first, NO_ROW);
    Arrays.fill(next, NO_ROW);
    this.nextPiece = moves.access().pieces(moves.list(), rows);
  }

  @Override
  public void add(int row, int claimant) {
    if (value.isNull(row)) {
      return;
    }
    if (first[claimant] == NO_ROW) {
      first[claimant] = row;
    } else {
      next[last[claimant]] = row;
    }
    last[claimant] = row;
  }

  @Override
  public boolean put(int claimant, long words, long position) {
    long move = moves.address(position);
    HostMemory.putInt(move + StringMoves.LENGTH, 0);
    if (first[claimant] == NO_ROW) {
      return false;
    }
    int before = HostMemory.getInt(words);
    int length = putParts(claimant, words, move);
    boolean isLong = LongStrings.words(length) > 0;
    long low = HostStringMoves.word(move, 0);
    long high = length > Long.BYTES ? HostStringMoves.word(move, 1) : 0;
    boolean isChanged = !WideValue.isSet(words) || length != before;
    HostMemory.putLong(words, Integer.toUnsignedLong(length) | low << Integer.SIZE);
    // The bytes of a short string stay where they are until its tail gets a place.
    if (!isLong) {
      HostMemory.putLong(words + Long.BYTES, low >>> Integer.SIZE | high << Integer.SIZE);
      HostMemory.putInt(move + StringMoves.LENGTH, 0);
    }
    HostMemory.putLong(words + 2 * Long.BYTES, 1);
    long output = value.second().output() + (position + 1) * 2 * Long.BYTES;
    HostMemory.putLong(move + StringMoves.TAIL, words + Long.BYTES);
    HostMemory.putLong(move + StringMoves.OTHER_TAIL, hasResult ? output : 0);
    return isChanged;
  }

  // Gives the length of the string.
  private int putParts(int claimant, long words, long move) {
    int length = HostMemory.getInt(words);
    boolean isLong = LongStrings.words(length) > 0;
    long source = isLong ? HostMemory.getLong(words + Long.BYTES) : words + PREFIX_BYTES;
    HostMemory.putLong(move, source);
    HostMemory.putLong(move + StringMoves.CHUNKS, isLong ? moves.access().chunkTable() : 0);
    HostMemory.putInt(move + StringMoves.FIRST_LENGTH, length);
    HostMemory.putLong(move + StringMoves.PIECES, nextPiece);
    int count = 0;
    for (int row = first[claimant]; row != NO_ROW; row = next[row], count++) {
      length += value.length(row);
      HostMemory.putLong(nextPiece, value.source(row));
      HostMemory.putLong(nextPiece + StringMoves.PIECE_CHUNKS, value.sourceChunks(row));
      HostMemory.putInt(nextPiece + StringMoves.PIECE_END, length);
      nextPiece += StringMoves.PIECE_BYTES;
    }
    HostMemory.putInt(move + StringMoves.PIECE_COUNT, count);
    HostMemory.putInt(move + StringMoves.LENGTH, length);
    return length;
  }
}
