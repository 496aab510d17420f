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
 * @param gap rows of a key that are at most so far apart are in one session
 */
@PublicEvolving
public record SessionSchema(StateSchema state, int lastWord, int firstWord, long gap) {

  /**
   * The first maximum and the first minimum of {@code timeColumn}, a position in the input.
   *
   * @throws IllegalArgumentException if one of them is not an accumulator
   */
  public static SessionSchema of(StateSchema state, int timeColumn, long gap) {
    return new SessionSchema(
        state,
        position(state, Function.MAX, timeColumn),
        position(state, Function.MIN, timeColumn),
        gap);
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
