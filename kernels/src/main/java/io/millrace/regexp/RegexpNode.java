// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import io.millrace.annotation.Internal;
import java.util.List;

/** The syntax tree of a regular expression. */
@Internal
public sealed interface RegexpNode {
  /** The maximum of an unbounded {@link Repetition}. */
  int UNLIMITED = Integer.MAX_VALUE;

  /** Whether it may match the empty string. */
  boolean matchesEmpty();

  /** One code point of a set. */
  record Characters(CodePointSet set) implements RegexpNode {
    @Override
    public boolean matchesEmpty() {
      return false;
    }
  }

  /** A capturing group, numbered from 1 by its opening parenthesis. */
  record Group(int number, RegexpNode body) implements RegexpNode {
    @Override
    public boolean matchesEmpty() {
      return body.matchesEmpty();
    }
  }

  /** A concatenation. */
  record Sequence(List<RegexpNode> parts) implements RegexpNode {
    @Override
    public boolean matchesEmpty() {
      return parts.stream().allMatch(RegexpNode::matchesEmpty);
    }
  }

  /** Alternatives in order of priority. */
  record Alternatives(List<RegexpNode> options) implements RegexpNode {
    @Override
    public boolean matchesEmpty() {
      return options.stream().anyMatch(RegexpNode::matchesEmpty);
    }
  }

  /** A repetition: as many times as possible if greedy, otherwise as few as possible. */
  record Repetition(RegexpNode body, int least, int most, boolean greedy) implements RegexpNode {
    @Override
    public boolean matchesEmpty() {
      return least == 0 || body.matchesEmpty();
    }
  }

  /** A position in the string. */
  enum Anchor implements RegexpNode {
    BEGIN,
    /** The end, or before a line terminator at the end. */
    FINAL_LINE_END,
    END;

    @Override
    public boolean matchesEmpty() {
      return true;
    }
  }
}
