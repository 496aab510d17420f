// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import io.millrace.regexp.Dfa.Search;
import io.millrace.regexp.Nfa.Accept;
import io.millrace.regexp.Nfa.Begin;
import io.millrace.regexp.Nfa.Branch;
import io.millrace.regexp.Nfa.Instruction;
import io.millrace.regexp.Nfa.Take;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Builds the table of a {@link Dfa} by the subset construction. To locate matches, a state is a
 * list of automaton states in order of priority that ends with the first accepting one: later
 * states would only be tried after that match (R. Cox, Regular expression matching in the wild,
 * 2010).
 */
final class SubsetConstruction {
  private static final int MAX_STATES = 255;

  private final Nfa program;
  private final Search search;
  private final Map<List<Integer>, Integer> states = new HashMap<>();
  private final List<List<Integer>> found = new ArrayList<>();
  private final List<int[]> transitions = new ArrayList<>();
  private final List<Integer> truncated = new ArrayList<>();
  private final ByteClasses classes;

  SubsetConstruction(Nfa program, Search search) {
    this.program = program;
    this.search = search;
    this.classes = ByteClasses.of(program);
  }

  byte[] table() throws UnsupportedPatternException {
    stateOf(List.of());
    int startAtBegin = stateOf(closure(List.of(program.start()), true));
    int start = stateOf(closure(List.of(program.start()), false));
    for (int state = 0; state < found.size(); state++) {
      List<Integer> items = found.get(state);
      truncated.add(stateOf(beforeFinalTerminatorMatch(items)));
      int[] next = new int[classes.count()];
      for (int i = 0; i < next.length; i++) {
        next[i] = stateOf(step(items, classes.firstByte(i)));
      }
      transitions.add(next);
    }
    return write(startAtBegin, start);
  }

  private int stateOf(List<Integer> items) throws UnsupportedPatternException {
    Integer known = states.get(items);
    if (known != null) {
      return known;
    }
    if (states.size() == MAX_STATES) {
      throw new UnsupportedPatternException(
          "its automaton has more than " + MAX_STATES + " states");
    }
    states.put(items, states.size());
    found.add(items);
    return states.size() - 1;
  }

  private List<Integer> step(List<Integer> items, int value) {
    List<Integer> seeds = new ArrayList<>();
    for (int item : items) {
      if (program.instruction(item) instanceof Take take
          && take.first() <= value
          && value <= take.last()) {
        seeds.add(take.next());
      }
    }
    if (search == Search.CONTAINS) {
      seeds.add(program.start());
    }
    return closure(seeds, false);
  }

  // The instructions reachable from the seeds that consume a byte or accept.
  private List<Integer> closure(List<Integer> seeds, boolean atBegin) {
    List<Integer> items = new ArrayList<>();
    BitSet seen = new BitSet();
    List<Integer> stack = new ArrayList<>(seeds);
    Collections.reverse(stack);
    while (!stack.isEmpty()) {
      int index = stack.remove(stack.size() - 1);
      if (seen.get(index)) {
        continue;
      }
      seen.set(index);
      Instruction instruction = program.instruction(index);
      if (instruction instanceof Branch branch) {
        for (int i = branch.targets().size() - 1; i >= 0; i--) {
          stack.add(branch.targets().get(i));
        }
      } else if (instruction instanceof Begin begin) {
        if (atBegin) {
          stack.add(begin.next());
        }
      } else {
        items.add(index);
        if (instruction == Accept.ANYWHERE && search != Search.WHOLE) {
          return search == Search.LOCATE ? items : List.of(index);
        }
      }
    }
    if (search != Search.LOCATE) {
      Collections.sort(items);
    }
    return items;
  }

  private List<Integer> beforeFinalTerminatorMatch(List<Integer> items) {
    for (int i = 0; i < items.size(); i++) {
      if (program.instruction(items.get(i)) == Accept.BEFORE_FINAL_TERMINATOR) {
        return search == Search.LOCATE ? items.subList(0, i) : List.of();
      }
    }
    return List.of();
  }

  private int flags(List<Integer> items) {
    int flags = 0;
    for (int item : items) {
      if (program.instruction(item) instanceof Accept accept) {
        flags |= Dfa.flag(accept);
      }
    }
    return flags;
  }

  // States without flags first.
  private byte[] write(int startAtBegin, int start) {
    int count = found.size();
    int[] numbers = new int[count];
    int next = 0;
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < count; i++) {
        if ((flags(found.get(i)) != 0) == (round == 1)) {
          numbers[i] = next++;
        }
      }
    }
    int width = classes.count();
    byte[] table = new byte[Dfa.STATES + count * (2 + width)];
    table[Dfa.CLASS_COUNT_MINUS_ONE] = (byte) (width - 1);
    table[Dfa.START_AT_BEGIN] = (byte) numbers[startAtBegin];
    table[Dfa.START] = (byte) numbers[start];
    table[Dfa.STATE_COUNT] = (byte) count;
    int firstFlagged = count;
    classes.write(table, Dfa.CLASSES);
    for (int i = 0; i < count; i++) {
      int flags = flags(found.get(i));
      firstFlagged = flags != 0 ? Math.min(firstFlagged, numbers[i]) : firstFlagged;
      table[Dfa.STATES + numbers[i]] = (byte) flags;
      table[Dfa.STATES + count + numbers[i]] = (byte) numbers[truncated.get(i)];
      int row = Dfa.STATES + 2 * count + numbers[i] * width;
      for (int j = 0; j < width; j++) {
        table[row + j] = (byte) numbers[transitions.get(i)[j]];
      }
    }
    table[Dfa.FIRST_FLAGGED] = (byte) firstFlagged;
    return table;
  }
}
