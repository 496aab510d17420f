// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A non-deterministic automaton over bytes, by Thompson's construction (Regular expression search
 * algorithm, 1968). Branches are in the order in which Java's backtracking tries them. Immutable.
 */
final class Nfa {
  private static final int MAX_INSTRUCTIONS = 10_000;

  /** A state of the automaton. */
  sealed interface Instruction {}

  /** Consumes a byte from {@code first} to {@code last}. */
  record Take(int first, int last, int next) implements Instruction {}

  /** Continues with each target, in order of priority. */
  record Branch(List<Integer> targets) implements Instruction {
    public Branch {
      targets = List.copyOf(targets);
    }
  }

  /** Continues only at the first byte of the string. */
  record Begin(int next) implements Instruction {}

  /** Opens or closes the captured group. */
  record Capture(boolean opens, int next) implements Instruction {}

  /** Accepts. */
  enum Accept implements Instruction {
    ANYWHERE,
    /** Accepts at the end of the string or before its final line terminator. */
    BEFORE_FINAL_TERMINATOR,
    /** Accepts at the end of the string. */
    AT_END
  }

  private final List<Instruction> instructions = new ArrayList<>();
  private final int captured;
  private boolean isInCaptured;
  private int start;

  private Nfa(int captured) {
    this.captured = captured;
  }

  /**
   * Compiles an expression.
   *
   * @throws UnsupportedPatternException if it needs too many states
   */
  static Nfa of(RegexpNode node) throws UnsupportedPatternException {
    return capturing(node, 0);
  }

  /**
   * Compiles an expression with {@link Capture}s at the start and end of a group.
   *
   * @throws UnsupportedPatternException if it needs too many states
   */
  static Nfa capturing(RegexpNode node, int group) throws UnsupportedPatternException {
    Nfa program = new Nfa(group);
    int accept = program.add(Accept.ANYWHERE);
    program.start = program.compile(node, accept);
    return program;
  }

  /** The start state. */
  int start() {
    return start;
  }

  int size() {
    return instructions.size();
  }

  Instruction instruction(int index) {
    return instructions.get(index);
  }

  // Compiles `node` in front of the state `next`; returns its start state.
  private int compile(RegexpNode node, int next) throws UnsupportedPatternException {
    if (node instanceof RegexpNode.Characters characters) {
      return compile(characters.set(), next);
    } else if (node instanceof RegexpNode.Sequence sequence) {
      int entry = next;
      for (int i = sequence.parts().size() - 1; i >= 0; i--) {
        entry = compile(sequence.parts().get(i), entry);
      }
      return entry;
    } else if (node instanceof RegexpNode.Alternatives alternatives) {
      List<Integer> targets = new ArrayList<>();
      for (RegexpNode option : alternatives.options()) {
        targets.add(compile(option, next));
      }
      return add(new Branch(targets));
    } else if (node instanceof RegexpNode.Repetition repetition) {
      return compile(repetition, next);
    } else if (node instanceof RegexpNode.Group group) {
      return compile(group, next);
    }
    return switch ((RegexpNode.Anchor) node) {
      case BEGIN -> add(new Begin(next));
      case FINAL_LINE_END -> accept(Accept.BEFORE_FINAL_TERMINATOR);
      case END -> accept(Accept.AT_END);
    };
  }

  private int compile(RegexpNode.Group group, int next) throws UnsupportedPatternException {
    if (group.number() != captured) {
      return compile(group.body(), next);
    }
    int close = add(new Capture(false, next));
    isInCaptured = true;
    int body = compile(group.body(), close);
    isInCaptured = false;
    return add(new Capture(true, body));
  }

  // Only the end of the group may be between an end anchor and the match.
  private int accept(Accept accept) throws UnsupportedPatternException {
    int index = add(accept);
    return isInCaptured ? add(new Capture(false, index)) : index;
  }

  private int compile(RegexpNode.Repetition repetition, int next)
      throws UnsupportedPatternException {
    int entry = next;
    if (repetition.most() == RegexpNode.UNLIMITED) {
      int loop = add(new Branch(List.of()));
      instructions.set(loop, branch(repetition, compile(repetition.body(), loop), next));
      entry = loop;
    } else {
      for (int i = repetition.least(); i < repetition.most(); i++) {
        entry = add(branch(repetition, compile(repetition.body(), entry), next));
      }
    }
    for (int i = 0; i < repetition.least(); i++) {
      entry = compile(repetition.body(), entry);
    }
    return entry;
  }

  private static Branch branch(RegexpNode.Repetition repetition, int body, int next) {
    return new Branch(repetition.greedy() ? List.of(body, next) : List.of(next, body));
  }

  // Byte sequences with equal suffixes share states.
  private int compile(CodePointSet set, int next) throws UnsupportedPatternException {
    Map<Take, Integer> known = new HashMap<>();
    List<Integer> entries = new ArrayList<>();
    for (List<CodePointSet.Range> sequence : set.utf8()) {
      int entry = next;
      for (int i = sequence.size() - 1; i >= 0; i--) {
        Take take = new Take(sequence.get(i).first(), sequence.get(i).last(), entry);
        Integer existing = known.get(take);
        entry = existing == null ? add(take) : existing;
        known.put(take, entry);
      }
      entries.add(entry);
    }
    return entries.size() == 1 ? entries.get(0) : add(new Branch(entries));
  }

  private int add(Instruction instruction) throws UnsupportedPatternException {
    if (instructions.size() == MAX_INSTRUCTIONS) {
      throw new UnsupportedPatternException("it has too many repetitions");
    }
    instructions.add(instruction);
    return instructions.size() - 1;
  }
}
