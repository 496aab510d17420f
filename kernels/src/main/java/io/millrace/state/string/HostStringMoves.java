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

  // The first part of a string may lie in its tail, which is written last.
  private static void place(StringMoves moves, long move, int length, long place) {
    for (int word = 0; word < LongStrings.words(length); word++) {
      long target = LongStrings.wordAddress(moves.target(), place + word);
      HostMemory.putLong(target, word(move, word));
    }
    HostMemory.putLong(HostMemory.getLong(move + StringMoves.TAIL), place);
    long otherTail = HostMemory.getLong(move + StringMoves.OTHER_TAIL);
    if (otherTail != 0) {
      HostMemory.putLong(otherTail, place);
    }
  }

  /** A word of the string of a move, with zeros behind its bytes. */
  static long word(long move, int number) {
    long source = HostMemory.getLong(move);
    long chunks = HostMemory.getLong(move + StringMoves.CHUNKS);
    int begin = number * Long.BYTES;
    int count = Math.min(Long.BYTES, HostMemory.getInt(move + StringMoves.LENGTH) - begin);
    int firstLength = HostMemory.getInt(move + StringMoves.FIRST_LENGTH);
    int done = Math.max(0, Math.min(count, firstLength - begin));
    long word = bytes(source, chunks, begin, done);
    if (done < count) {
      long pieces = HostMemory.getLong(move + StringMoves.PIECES);
      int piece = pieceWith(move, begin + done);
      for (; done < count; piece++) {
        long address = pieces + (long) piece * StringMoves.PIECE_BYTES;
        int start = piece == 0 ? firstLength : end(address - StringMoves.PIECE_BYTES);
        int taken = Math.min(count - done, end(address) - begin - done);
        long from = HostMemory.getLong(address);
        long fromChunks = HostMemory.getLong(address + StringMoves.PIECE_CHUNKS);
        word |= bytes(from, fromChunks, begin + done - start, taken) << (done * Byte.SIZE);
        done += taken;
      }
    }
    return word;
  }

  private static int end(long piece) {
    return HostMemory.getInt(piece + StringMoves.PIECE_END);
  }

  // The first piece that ends behind a byte.
  private static int pieceWith(long move, int begin) {
    long pieces = HostMemory.getLong(move + StringMoves.PIECES);
    int low = 0;
    int high = HostMemory.getInt(move + StringMoves.PIECE_COUNT) - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (end(pieces + (long) middle * StringMoves.PIECE_BYTES) > begin) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  // `count` bytes, 8 at most, of a string from `begin` on.
  private static long bytes(long source, long chunks, int begin, int count) {
    if (count == Long.BYTES && (chunks == 0 || begin % Long.BYTES == 0)) {
      return HostMemory.getLong(address(source, chunks, begin));
    }
    long bytes = 0;
    for (int i = 0; i < count; i++) {
      int element = Byte.toUnsignedInt(HostMemory.getByte(address(source, chunks, begin + i)));
      bytes |= (long) element << (i * Byte.SIZE);
    }
    return bytes;
  }

  private static long address(long source, long chunks, int begin) {
    return chunks == 0
        ? source + begin
        : LongStrings.wordAddress(chunks, source + begin / Long.BYTES) + begin % Long.BYTES;
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
        HostMemory.putInt(move + StringMoves.FIRST_LENGTH, length);
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
