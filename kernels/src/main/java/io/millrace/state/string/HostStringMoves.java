// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.state.row.LongStrings;

/** The twin of state_moves.cu. */
final class HostStringMoves implements StringMoves.Kernels {
  @Override
  public void move(StringMoves moves) {
    HostMemory.fill(moves.scratch(), StringMoves.COUNT_BYTES, (byte) 0);
    long words = 0;
    for (int i = 0; i < moves.count(); i++) {
      long move = moves.moves() + (long) i * StringMoves.BYTES;
      int length = HostMemory.getInt(move + StringMoves.LENGTH);
      if (length > 0) {
        long count = (1L + StringLengths.countOf(length)) * Long.BYTES;
        HostMemory.putLong(
            moves.scratch() + count, HostMemory.getLong(moves.scratch() + count) + 1);
        if (moves.target() != 0) {
          place(moves, move, length, moves.firstWord() + words);
        }
        words += LongStrings.words(length);
      }
    }
    HostMemory.putLong(moves.scratch(), words);
  }

  private static void place(StringMoves moves, long move, int length, long place) {
    long source = HostMemory.getLong(move);
    long chunks = HostMemory.getLong(move + StringMoves.CHUNKS);
    HostMemory.putLong(HostMemory.getLong(move + StringMoves.TAIL), place);
    long otherTail = HostMemory.getLong(move + StringMoves.OTHER_TAIL);
    if (otherTail != 0) {
      HostMemory.putLong(otherTail, place);
    }
    for (int word = 0; word < LongStrings.words(length); word++) {
      long target = LongStrings.wordAddress(moves.target(), place + word);
      int done = word * Long.BYTES;
      if (chunks != 0) {
        long stored = LongStrings.wordAddress(chunks, source + word);
        HostMemory.putLong(target, HostMemory.getLong(stored));
      } else {
        HostMemory.putLong(target, 0);
        HostMemory.copy(target, source + done, Math.min(Long.BYTES, length - done));
      }
    }
  }

  @Override
  public void fill(StoredStrings strings, long moves, DeviceStream stream) {
    long move = moves;
    for (long row = strings.firstRow(); row < strings.firstRow() + strings.rows(); row++) {
      for (int tail : strings.tails()) {
        long address = rowAddress(strings, row) + (long) tail * Long.BYTES;
        int length = HostMemory.getInt(address - Long.BYTES);
        HostMemory.putLong(move, HostMemory.getLong(address));
        HostMemory.putLong(move + StringMoves.CHUNKS, strings.strings());
        HostMemory.putLong(move + StringMoves.TAIL, address);
        HostMemory.putLong(move + StringMoves.OTHER_TAIL, 0);
        HostMemory.putInt(move + StringMoves.LENGTH, LongStrings.words(length) == 0 ? 0 : length);
        move += StringMoves.BYTES;
      }
    }
  }

  private static long rowAddress(StoredStrings strings, long row) {
    long chunk =
        HostMemory.getLong(strings.chunkTable() + (row >> strings.chunkShift()) * Long.BYTES);
    long inChunk = row & ((1L << strings.chunkShift()) - 1);
    return chunk + inChunk * strings.rowWords() * Long.BYTES;
  }
}
