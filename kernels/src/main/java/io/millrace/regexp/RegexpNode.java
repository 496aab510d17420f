// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import io.millrace.annotation.Internal;
import java.util.List;

/** The syntax tree of a regular expression. */
@Internal
public sealed interface RegexpNode {
  /** The most repetitions of a {@link Repetition} that has no limit. */
  int UNLIMITED = Integer.MAX_VALUE;

  /** Whether it may match without taking anything. */
  boolean matchesEmpty();

  /** One code point of a set. */
  record Characters(CodePointSet set) implements RegexpNode {
    @Override
    public boolean matchesEmpty() {
      return false;
    }
  }

  /** A capturing group; they are numbered from 1 by where they open. */
  record Group(int number, RegexpNode body) implements RegexpNode {
    @Override
    public boolean matchesEmpty() {
      return body.matchesEmpty();
    }
  }

  /** One after the other. */
  record Sequence(List<RegexpNode> parts) implements RegexpNode {
    @Override
    public boolean matchesEmpty() {
      return parts.stream().allMatch(RegexpNode::matchesEmpty);
    }
  }

  /** The first of them with which the whole expression matches. */
  record Alternatives(List<RegexpNode> options) implements RegexpNode {
    @Override
    public boolean matchesEmpty() {
      return options.stream().anyMatch(RegexpNode::matchesEmpty);
    }
  }

  /** As many as possible if greedy, else as few as possible. */
  record Repetition(RegexpNode body, int least, int most, boolean greedy) implements RegexpNode {
    @Override
    public boolean matchesEmpty() {
      return least == 0 || body.matchesEmpty();
    }
  }

  /** A place in the string. */
  enum Anchor implements RegexpNode {
    BEGIN,
    /** The end, or before a line terminator that ends the string. */
    FINAL_LINE_END,
    END;

    @Override
    public boolean matchesEmpty() {
      return true;
    }
  }
}
