// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.session;

import io.millrace.annotation.PublicEvolving;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;

/**
 * Where the times of a session are in a state row. A row whose accumulators are all zero is in no
 * session: its key begins again with its next row.
 *
 * @param lastWord the position of the word with the last time, a maximum
 * @param firstWord the position of the word with the first time, a minimum
 * @param startWord the position of the word with the start of the row's slice, the last key column;
 *     {@link #NO_START} if there is a table for each slice
 * @param gap rows of a key that are at most so far apart are in one session
 */
@PublicEvolving
public record SessionSchema(
    StateSchema state, int lastWord, int firstWord, int startWord, long gap) {
  static final int NO_START = -1;

  /**
   * The first maximum and the first minimum of {@code timeColumn}, a position in the input, with a
   * table for each slice.
   *
   * @throws IllegalArgumentException if one of them is not an accumulator
   */
  public static SessionSchema of(StateSchema state, int timeColumn, long gap) {
    return of(state, timeColumn, NO_START, gap);
  }

  /**
   * As {@link #of}, with one table; the last key column is the start of a row's slice, not null.
   */
  public static SessionSchema ofOneTable(StateSchema state, int timeColumn, long gap) {
    return of(state, timeColumn, state.lastKeyWord(), gap);
  }

  private static SessionSchema of(StateSchema state, int timeColumn, int startWord, long gap) {
    return new SessionSchema(
        state,
        position(state, Function.MAX, timeColumn),
        position(state, Function.MIN, timeColumn),
        startWord,
        gap);
  }

  boolean hasStarts() {
    return startWord != NO_START;
  }

  private static int position(StateSchema state, Function function, int column) {
    int word = state.firstAccumulator();
    for (Accumulator accumulator : state.accumulators()) {
      if (accumulator.function() == function && accumulator.column() == column) {
        return word;
      }
      word += accumulator.words(state.input());
    }
    throw new IllegalArgumentException("expected the " + function + " of column " + column);
  }

  /** The word of a last time: in the order of unsigned numbers, 0 without any time. */
  static long lastWord(long time) {
    return time ^ Long.MIN_VALUE;
  }

  static long lastTime(long word) {
    return word ^ Long.MIN_VALUE;
  }

  static long firstTime(long word) {
    return ~word ^ Long.MIN_VALUE;
  }
}
