// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceStream;
import io.millrace.device.PerDevice;
import io.millrace.state.row.LongStrings;

/**
 * Strings that are to be stored one behind the other, in the order of their moves, with addresses
 * on the device that are valid until the work on {@code stream} is done.
 *
 * @param moves address of {@link #BYTES} bytes for each move: the address of the bytes of the
 *     string's first part, or the number of its first word; 0, or the address of an INT64 for each
 *     chunk of {@link LongStrings} with that word; the address of the tail that gets the string's
 *     place, and of another one or 0; as INT32s its length, 0 if there is no string to move, and
 *     that of the first part; the address of {@link #PIECE_BYTES} for each further part, 0 if there
 *     is none; as an INT32 their number; and an INT32 that is not used. Of each of these parts: its
 *     address or the number of its first word, and its chunks, likewise; as an INT32 where it ends
 *     in the string; and an INT32 that is not used
 * @param count of moves, at least 1
 * @param target address of an INT64 for each chunk of the words that the strings are added to; 0 if
 *     strings are only counted
 * @param firstWord the number of the first of these words
 * @param scratch address of {@link #scratchBytes} bytes
 */
@Internal
public record StringMoves(
    long moves, int count, long target, long firstWord, long scratch, DeviceStream stream) {
  /** Bytes of a move. */
  public static final int BYTES = 56;

  /** Bytes of a part of a string behind the first one. */
  public static final int PIECE_BYTES = 24;

  public static final int CHUNKS = 8;
  public static final int TAIL = 16;
  public static final int OTHER_TAIL = 24;
  public static final int LENGTH = 32;
  public static final int FIRST_LENGTH = 36;
  public static final int PIECES = 40;
  public static final int PIECE_COUNT = 48;
  public static final int PIECE_CHUNKS = 8;
  public static final int PIECE_END = 16;

  /** Bytes of what is counted: the words of the strings, and {@link StringLengths#COUNTS}. */
  static final int COUNT_BYTES = (1 + StringLengths.COUNTS) * Long.BYTES;

  private static final PerDevice<Kernels> KERNELS =
      new PerDevice<>(host -> new HostStringMoves(), CudaStringMoves::new);

  /** Moves strings, on the host or by the kernels of state_moves.cu. */
  interface Kernels {
    /** Enqueued. Allocates nothing. */
    void move(StringMoves moves);

    /** Enqueued. Allocates nothing. */
    void fill(StoredStrings strings, long moves, DeviceStream stream);
  }

  static Kernels kernels(DeviceStream stream) {
    return KERNELS.of(stream.device());
  }

  /** Bytes of scratch memory; what is counted lies at its beginning. */
  static long scratchBytes(int count) {
    return COUNT_BYTES + LongStrings.lookBackBytes(count);
  }

  /** Moves the strings and counts them. Enqueued. */
  void run() {
    kernels(stream).move(this);
  }
}
