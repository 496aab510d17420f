// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import io.millrace.regexp.Nfa.Accept;
import io.millrace.regexp.Nfa.Begin;
import io.millrace.regexp.Nfa.Branch;
import io.millrace.regexp.Nfa.Capture;
import io.millrace.regexp.Nfa.Instruction;
import io.millrace.regexp.Nfa.Take;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Builds the table of a {@link OnePassDfa} for an automaton that is one-pass (R. Cox, Regular
 * expression matching in the wild, 2010): from each state at most one instruction consumes a byte,
 * so that a single set of captures suffices.
 */
final class OnePassConstruction {
  private static final int MAX_STATES = 255;

  /**
   * An instruction reachable from a state without consuming a byte, and the capture actions on the
   * path.
   */
  private record Step(int instruction, int action) {}

  /**
   * The origin of a state: the position after an instruction that consumed a byte, or the first
   * byte.
   */
  private record Entry(int instruction, boolean atBegin) {}

  private final Nfa program;
  private final ByteClasses classes;
  private final Map<Entry, Integer> states = new HashMap<>();
  private final List<Entry> entries = new ArrayList<>();
  private final List<int[]> transitions = new ArrayList<>();
  private final List<int[]> actions = new ArrayList<>();
  private final List<Step> accepts = new ArrayList<>();

  OnePassConstruction(Nfa program) {
    this.program = program;
    this.classes = ByteClasses.of(program);
  }

  byte[] table() throws UnsupportedPatternException {
    entries.add(null);
    transitions.add(new int[classes.count()]);
    actions.add(new int[classes.count()]);
    accepts.add(null);
    int startAtBegin = stateOf(new Entry(program.start(), true));
    int start = stateOf(new Entry(program.start(), false));
    for (int state = 1; state < entries.size(); state++) {
      addState(closure(entries.get(state)));
    }
    int count = entries.size();
    int cells = count * classes.count();
    byte[] table = new byte[Dfa.STATES + 2 * count + 2 * cells];
    table[Dfa.CLASS_COUNT_MINUS_ONE] = (byte) (classes.count() - 1);
    table[Dfa.START_AT_BEGIN] = (byte) startAtBegin;
    table[Dfa.START] = (byte) start;
    table[Dfa.STATE_COUNT] = (byte) count;
    classes.write(table, Dfa.CLASSES);
    for (int state = 0; state < count; state++) {
      Step accept = accepts.get(state);
      if (accept != null) {
        table[Dfa.STATES + state] = (byte) flag(accept);
        table[Dfa.STATES + count + state] = (byte) accept.action();
      }
      int row = Dfa.STATES + 2 * count + state * classes.count();
      for (int i = 0; i < classes.count(); i++) {
        table[row + i] = (byte) transitions.get(state)[i];
        table[row + cells + i] = (byte) actions.get(state)[i];
      }
    }
    return table;
  }

  private int flag(Step accept) {
    return Dfa.flag((Accept) program.instruction(accept.instruction()));
  }

  private void addState(List<Step> steps) throws UnsupportedPatternException {
    int[] next = new int[classes.count()];
    int[] action = new int[classes.count()];
    Step accept = null;
    for (Step step : steps) {
      Instruction instruction = program.instruction(step.instruction());
      if (instruction instanceof Take take) {
        if (accept != null && flag(accept) == Dfa.MATCH_BEFORE_FINAL_TERMINATOR) {
          throw new UnsupportedPatternException("the group depends on what comes after a $");
        }
        for (int i = 0; i < next.length; i++) {
          int value = classes.firstByte(i);
          if (take.first() <= value && value <= take.last()) {
            if (next[i] != 0) {
              throw new UnsupportedPatternException("where the group ends needs backtracking");
            }
            next[i] = stateOf(new Entry(take.next(), false));
            action[i] = step.action();
          }
        }
      } else if (accept == null) {
        accept = step;
      } else {
        throw new UnsupportedPatternException("the group depends on where the string ends");
      }
    }
    transitions.add(next);
    actions.add(action);
    accepts.add(accept);
  }

  private int stateOf(Entry entry) throws UnsupportedPatternException {
    Integer known = states.get(entry);
    if (known != null) {
      return known;
    }
    if (entries.size() == MAX_STATES) {
      throw new UnsupportedPatternException(
          "its automaton has more than " + MAX_STATES + " states");
    }
    states.put(entry, entries.size());
    entries.add(entry);
    return entries.size() - 1;
  }

  // In order of priority, up to the first unconditional accept.
  private List<Step> closure(Entry entry) throws UnsupportedPatternException {
    List<Step> steps = new ArrayList<>();
    BitSet seen = new BitSet();
    Deque<Step> stack = new ArrayDeque<>();
    stack.push(new Step(entry.instruction(), 0));
    while (!stack.isEmpty()) {
      Step step = stack.pop();
      if (seen.get(step.instruction())) {
        continue;
      }
      seen.set(step.instruction());
      Instruction instruction = program.instruction(step.instruction());
      if (instruction instanceof Branch branch) {
        for (int i = branch.targets().size() - 1; i >= 0; i--) {
          stack.push(new Step(branch.targets().get(i), step.action()));
        }
      } else if (instruction instanceof Begin begin) {
        if (entry.atBegin()) {
          stack.push(new Step(begin.next(), step.action()));
        }
      } else if (instruction instanceof Capture capture) {
        stack.push(new Step(capture.next(), action(step.action(), capture)));
      } else {
        steps.add(step);
        if (instruction == Accept.ANYWHERE) {
          return steps;
        }
      }
    }
    return steps;
  }

  private static int action(int before, Capture capture) throws UnsupportedPatternException {
    boolean hasOpened = (before & OnePassDfa.OPEN) != 0;
    int added =
        capture.opens()
            ? OnePassDfa.OPEN
            : hasOpened ? OnePassDfa.CLOSE_AFTER : OnePassDfa.CLOSE_BEFORE;
    if ((before & added) != 0 || (capture.opens() && (before & OnePassDfa.CLOSE_AFTER) != 0)) {
      throw new UnsupportedPatternException("the group is empty more than once");
    }
    return before | added;
  }
}
