// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;
import io.millrace.text.PatternBytes;

/**
 * A deterministic automaton over UTF-8 bytes that captures one group of a regular expression. It
 * exists if each byte determines the path. Its table is the constant of {@code
 * regexp_extract_group}, whose twin is {@link #find}. Immutable.
 *
 * <p>Table layout: the layout of {@link Dfa}, with the capture actions before a match in place of
 * the states without later items, followed by the capture actions before consuming a byte, by state
 * and class.
 */
@Internal
public final class OnePassDfa {
  /** Capture actions, in the order in which they are executed. */
  static final int CLOSE_BEFORE = 1;

  static final int OPEN = 2;
  static final int CLOSE_AFTER = 4;

  private final byte[] table;
  private final int classCount;
  private final int stateCount;

  OnePassDfa(byte[] table) {
    this.table = table.clone();
    this.classCount = unsigned(Dfa.CLASS_COUNT_MINUS_ONE) + 1;
    this.stateCount = unsigned(Dfa.STATE_COUNT);
  }

  /**
   * Compiles a pattern for a group.
   *
   * @throws UnsupportedPatternException if the pattern has no such automaton
   */
  public static OnePassDfa of(RegexpNode node, int group) throws UnsupportedPatternException {
    return new OnePassDfa(new OnePassConstruction(Nfa.capturing(node, group)).table());
  }

  /** A copy of the table. */
  public byte[] table() {
    return table.clone();
  }

  /**
   * The bytes of a group from {@code start} to {@code end}; {@code start} is -1 if the group did
   * not participate.
   */
  public record Span(int start, int end) {
    static final Span NONE = new Span(-1, -1);
  }

  /**
   * The group in the first match; {@link Span#NONE} if there is no match or the group did not
   * participate.
   */
  public Span find(long address, int length) {
    for (int from = 0; from <= length; from++) {
      boolean isInside =
          from < length && PatternBytes.isContinuation(HostMemory.getByte(address + from));
      Span group = isInside ? null : match(address, length, from);
      if (group != null) {
        return group;
      }
    }
    return Span.NONE;
  }

  private Span match(long address, int length, int from) {
    int state = unsigned(from == 0 ? Dfa.START_AT_BEGIN : Dfa.START);
    int opened = -1;
    Span group = Span.NONE;
    Span matched = null;
    for (int at = from; state != 0; at++) {
      if (accepts(state, address, length, at)) {
        int action = table[Dfa.STATES + stateCount + state];
        matched = closed(group, action, opened, at);
      }
      if (at == length) {
        break;
      }
      int byteClass = unsigned(Dfa.CLASSES + (HostMemory.getByte(address + at) & 0xff));
      int transition = Dfa.STATES + 2 * stateCount + state * classCount + byteClass;
      int action = table[transition + stateCount * classCount];
      group = closed(group, action, opened, at);
      opened = (action & OPEN) != 0 ? at : opened;
      state = unsigned(transition);
    }
    return matched;
  }

  private boolean accepts(int state, long address, int length, int at) {
    int flags = table[Dfa.STATES + state];
    return (flags & Dfa.MATCH) != 0
        || ((flags & Dfa.MATCH_AT_END) != 0 && at == length)
        || ((flags & Dfa.MATCH_BEFORE_FINAL_TERMINATOR) != 0
            && PatternBytes.isBeforeFinalTerminator(address, length, at));
  }

  private static Span closed(Span group, int action, int opened, int at) {
    if ((action & CLOSE_AFTER) != 0) {
      return new Span(at, at);
    }
    return (action & CLOSE_BEFORE) != 0 ? new Span(opened, at) : group;
  }

  private int unsigned(int index) {
    return table[index] & 0xff;
  }
}
