// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import io.millrace.annotation.Internal;
import io.millrace.state.row.WideValue;

/** Combines values of two words in the order of the rows, on the host. */
@Internal
public interface HostValueFold {

  /**
   * Where the moves of the strings go.
   *
   * @param access to the strings of values
   * @param strings values of a row that are strings
   * @param string how many of them are before this value
   * @param list how many of those before this value grow by the strings of further rows
   */
  record Moves(ValueStrings.Access access, int strings, int string, int list) {

    /** The address of the move of a key, by the position of its rows in the result. */
    long address(long position) {
      return access.moves() + (position / 2 * strings + string) * StringMoves.BYTES;
    }
  }

  /**
   * A fold of the rows of a batch.
   *
   * @param rows of the batch
   * @param hasResult whether results are written
   */
  static HostValueFold of(WideValue value, int rows, Moves moves, boolean hasResult) {
    return value.isList()
        ? new HostListFold(value, rows, moves, hasResult)
        : new HostWideFold(value, rows, moves, hasResult);
  }

  /** Adds a row, in the order of the rows. */
  void add(int row, int claimant);

  /**
   * Writes the value of a key.
   *
   * @param words address of the value in its state row
   * @param position of the key's rows in the result
   * @return whether the value changed
   */
  boolean put(int claimant, long words, long position);
}
