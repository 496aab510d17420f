// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;
import io.millrace.text.PatternBytes;

/**
 * A deterministic automaton over UTF-8 bytes that agrees with {@link java.util.regex.Pattern} on
 * {@link RegexpParser}'s subset and needs one pass. Its table is the constant of the device
 * functions in {@code regexp.cu}, whose twins are the methods. Immutable.
 *
 * <p>Table layout: the number of byte classes minus one, the start state at the first byte, the
 * start state elsewhere, and the first state with flags (one byte each); the number of states;
 * three unused bytes; the class of each byte value; the flags of each state; for each state, the
 * state without the items that follow a match before the final terminator; the next state by state
 * and class. State 0 is the dead state.
 */
@Internal
public final class Dfa {
  /** The question that the automaton answers. */
  public enum Search {
    /** Whether the expression matches anywhere. */
    CONTAINS,
    /** Whether the expression matches the whole string. */
    WHOLE,
    /** The end of the match that starts at a given byte, by Java's priority. */
    LOCATE
  }

  /** Flags of a state: conditions under which it accepts. */
  static final int MATCH = 1;

  static final int MATCH_BEFORE_FINAL_TERMINATOR = 2;
  static final int MATCH_AT_END = 4;

  static final int CLASS_COUNT_MINUS_ONE = 0;
  static final int START_AT_BEGIN = 1;
  static final int START = 2;
  static final int FIRST_FLAGGED = 3;
  static final int STATE_COUNT = 4;
  static final int CLASSES = 8;
  static final int STATES = CLASSES + 256;

  private final byte[] table;
  private final int classCount;
  private final int stateCount;
  private final int startAtBegin;
  private final int start;
  private final int firstFlagged;

  Dfa(byte[] table) {
    this.table = table.clone();
    this.classCount = unsigned(CLASS_COUNT_MINUS_ONE) + 1;
    this.startAtBegin = unsigned(START_AT_BEGIN);
    this.start = unsigned(START);
    this.firstFlagged = unsigned(FIRST_FLAGGED);
    this.stateCount = unsigned(STATE_COUNT);
  }

  /**
   * Compiles a pattern.
   *
   * @throws UnsupportedPatternException if the pattern is outside the subset or needs too many
   *     states
   */
  public static Dfa of(RegexpNode node, Search search) throws UnsupportedPatternException {
    return new Dfa(new SubsetConstruction(Nfa.of(node), search).table());
  }

  /** The state flag of an accept instruction. */
  static int flag(Nfa.Accept accept) {
    return switch (accept) {
      case ANYWHERE -> MATCH;
      case BEFORE_FINAL_TERMINATOR -> MATCH_BEFORE_FINAL_TERMINATOR;
      case AT_END -> MATCH_AT_END;
    };
  }

  /** A copy of the table. */
  public byte[] table() {
    return table.clone();
  }

  /** Whether the expression matches anywhere. Requires {@link Search#CONTAINS}. */
  public boolean contains(long address, int length) {
    int state = startAtBegin;
    for (int at = 0; state != 0; at++) {
      if (state >= firstFlagged) {
        int flags = flags(state);
        if ((flags & MATCH) != 0
            || ((flags & MATCH_AT_END) != 0 && at == length)
            || ((flags & MATCH_BEFORE_FINAL_TERMINATOR) != 0
                && PatternBytes.isBeforeFinalTerminator(address, length, at))) {
          return true;
        }
      }
      if (at == length) {
        return false;
      }
      state = next(state, HostMemory.getByte(address + at));
    }
    return false;
  }

  /** Whether the expression matches the whole string. Requires {@link Search#WHOLE}. */
  public boolean matches(long address, int length) {
    int state = startAtBegin;
    for (int at = 0; at < length && state != 0; at++) {
      state = next(state, HostMemory.getByte(address + at));
    }
    return flags(state) != 0;
  }

  /**
   * The first byte of the first match at or after {@code from}, or -1. Requires {@link
   * Search#LOCATE}.
   */
  public int matchStart(long address, int length, int from) {
    for (int at = from; at <= length; at++) {
      boolean isInside =
          at < length && PatternBytes.isContinuation(HostMemory.getByte(address + at));
      if (!isInside && matchEnd(address, length, at) >= 0) {
        return at;
      }
    }
    return -1;
  }

  /** The end (exclusive) of the match that starts at {@code from}, or -1. */
  public int matchEnd(long address, int length, int from) {
    int state = from == 0 ? startAtBegin : start;
    int end = -1;
    for (int at = from; state != 0; at++) {
      if (state >= firstFlagged) {
        int flags = flags(state);
        if ((flags & MATCH) != 0 || ((flags & MATCH_AT_END) != 0 && at == length)) {
          end = at;
        }
        if ((flags & MATCH_BEFORE_FINAL_TERMINATOR) != 0
            && PatternBytes.isBeforeFinalTerminator(address, length, at)) {
          end = at;
          state = unsigned(STATES + stateCount + state);
        }
      }
      if (at == length) {
        break;
      }
      state = next(state, HostMemory.getByte(address + at));
    }
    return end;
  }

  private int next(int state, byte value) {
    int byteClass = unsigned(CLASSES + (value & 0xff));
    return unsigned(STATES + 2 * stateCount + state * classCount + byteClass);
  }

  private int flags(int state) {
    return table[STATES + state];
  }

  private int unsigned(int index) {
    return table[index] & 0xff;
  }
}
