// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import io.millrace.annotation.Internal;
import io.millrace.regexp.RegexpNode.Alternatives;
import io.millrace.regexp.RegexpNode.Anchor;
import io.millrace.regexp.RegexpNode.Characters;
import io.millrace.regexp.RegexpNode.Group;
import io.millrace.regexp.RegexpNode.Repetition;
import io.millrace.regexp.RegexpNode.Sequence;
import java.util.ArrayList;
import java.util.List;

/**
 * Parses the subset of {@link java.util.regex.Pattern}'s syntax that an automaton can represent:
 * literals, {@code .}, classes, groups, alternatives, greedy and reluctant quantifiers, and anchors
 * of the string. Constructs whose result depends on Java's backtracking are rejected: repetitions
 * of expressions that may be empty, end anchors followed by anything, and supplementary characters
 * in classes.
 */
@Internal
public final class RegexpParser {
  private static final int MAX_REPETITIONS = 1000;
  private static final CodePointSet NO_LINE_TERMINATOR =
      CodePointSet.ofRanges('\n', '\n', '\r', '\r', 0x85, 0x85, 0x2028, 0x2029).complement();
  private static final CodePointSet ANY = CodePointSet.NONE.complement();

  private final int[] pattern;
  private int position;
  private boolean dotIsAny;
  private int groups;

  private RegexpParser(String pattern) {
    this.pattern = pattern.codePoints().toArray();
  }

  /**
   * Parses a pattern.
   *
   * @throws UnsupportedPatternException if it is outside the subset or malformed
   */
  public static RegexpNode parse(String pattern) throws UnsupportedPatternException {
    RegexpParser parser = new RegexpParser(pattern);
    RegexpNode node = parser.alternatives();
    if (parser.hasMore()) {
      throw new UnsupportedPatternException("it closes a group that is not open");
    }
    requireLast(node, true);
    return node;
  }

  private static void requireLast(RegexpNode node, boolean last)
      throws UnsupportedPatternException {
    if (node == Anchor.FINAL_LINE_END || node == Anchor.END) {
      if (!last) {
        throw new UnsupportedPatternException("something follows an anchor of the end");
      }
    } else if (node instanceof Sequence sequence) {
      List<RegexpNode> parts = sequence.parts();
      for (int i = 0; i < parts.size(); i++) {
        requireLast(parts.get(i), last && i == parts.size() - 1);
      }
    } else if (node instanceof Alternatives alternatives) {
      for (RegexpNode option : alternatives.options()) {
        requireLast(option, last);
      }
    } else if (node instanceof Group group) {
      requireLast(group.body(), last);
    } else if (node instanceof Repetition repetition) {
      requireLast(repetition.body(), false);
    }
  }

  private RegexpNode alternatives() throws UnsupportedPatternException {
    List<RegexpNode> options = new ArrayList<>();
    options.add(sequence());
    while (hasMore() && peek() == '|') {
      position++;
      options.add(sequence());
    }
    return options.size() == 1 ? options.get(0) : new Alternatives(List.copyOf(options));
  }

  private RegexpNode sequence() throws UnsupportedPatternException {
    List<RegexpNode> parts = new ArrayList<>();
    while (hasMore() && peek() != '|' && peek() != ')') {
      parts.add(quantified(atom()));
    }
    return new Sequence(List.copyOf(parts));
  }

  private RegexpNode atom() throws UnsupportedPatternException {
    int codePoint = next();
    return switch (codePoint) {
      case '(' -> group();
      case '[' -> new Characters(characterClass());
      case '.' -> new Characters(dotIsAny ? ANY : NO_LINE_TERMINATOR);
      case '^' -> Anchor.BEGIN;
      case '$' -> Anchor.FINAL_LINE_END;
      case '\\' -> escape();
      case '*', '+', '?', '{' ->
          throw new UnsupportedPatternException("a quantifier has nothing before it");
      default -> literal(codePoint);
    };
  }

  private RegexpNode escape() throws UnsupportedPatternException {
    switch (hasMore() ? peek() : 0) {
      case 'A' -> {
        position++;
        return Anchor.BEGIN;
      }
      case 'z' -> {
        position++;
        return Anchor.END;
      }
      case 'Z' -> {
        position++;
        return Anchor.FINAL_LINE_END;
      }
      default -> {
        RegexpEscape read = RegexpEscape.read(pattern, position);
        position = read.end();
        return new Characters(read.set());
      }
    }
  }

  private RegexpNode group() throws UnsupportedPatternException {
    boolean outside = dotIsAny;
    boolean isCapturing = !hasMore() || peek() != '?';
    int number = isCapturing ? ++groups : groups;
    if (startsWith("?s:")) {
      dotIsAny = true;
      position += "?s:".length();
    } else if (startsWith("?:")) {
      position += "?:".length();
    } else if (!isCapturing) {
      throw new UnsupportedPatternException("it has a group of a special kind");
    }
    RegexpNode body = alternatives();
    if (!hasMore()) {
      throw new UnsupportedPatternException("a group is not closed");
    }
    position++;
    dotIsAny = outside;
    return isCapturing ? new Group(number, body) : body;
  }

  private RegexpNode quantified(RegexpNode atom) throws UnsupportedPatternException {
    if (!hasMore()) {
      return atom;
    }
    int least = 0;
    int most = RegexpNode.UNLIMITED;
    switch (peek()) {
      case '*' -> position++;
      case '+' -> {
        position++;
        least = 1;
      }
      case '?' -> {
        position++;
        most = 1;
      }
      case '{' -> {
        position++;
        least = number();
        most = least;
        if (hasMore() && peek() == ',') {
          position++;
          most = hasMore() && peek() == '}' ? RegexpNode.UNLIMITED : number();
        }
        if (!hasMore() || next() != '}' || most < least) {
          throw new UnsupportedPatternException("a number of repetitions is malformed");
        }
      }
      default -> {
        return atom;
      }
    }
    return repetition(atom, least, most);
  }

  private RegexpNode repetition(RegexpNode atom, int least, int most)
      throws UnsupportedPatternException {
    boolean greedy = true;
    if (hasMore() && peek() == '?') {
      position++;
      greedy = false;
    }
    if (hasMore() && (peek() == '+' || peek() == '*' || peek() == '?' || peek() == '{')) {
      throw new UnsupportedPatternException("it has a possessive or a double quantifier");
    }
    if (atom instanceof Anchor || (most != 1 && atom.matchesEmpty())) {
      throw new UnsupportedPatternException("it repeats what may be empty");
    }
    return new Repetition(atom, least, most, greedy);
  }

  private int number() throws UnsupportedPatternException {
    int value = 0;
    int start = position;
    while (hasMore() && peek() >= '0' && peek() <= '9' && value <= MAX_REPETITIONS) {
      value = value * 10 + (next() - '0');
    }
    if (position == start || value > MAX_REPETITIONS) {
      throw new UnsupportedPatternException("a number of repetitions is malformed or too large");
    }
    return value;
  }

  private CodePointSet characterClass() throws UnsupportedPatternException {
    boolean negated = hasMore() && peek() == '^';
    if (negated) {
      position++;
    }
    CodePointSet set = CodePointSet.NONE;
    boolean first = true;
    while (first || !hasMore() || peek() != ']') {
      set = set.union(classItem(first));
      first = false;
    }
    position++;
    return negated ? set.complement() : set;
  }

  private CodePointSet classItem(boolean first) throws UnsupportedPatternException {
    CodePointSet from = classCharacter(first);
    if (!hasMore() || peek() != '-') {
      return from;
    }
    position++;
    if (hasMore() && peek() == ']') {
      return from.union(CodePointSet.ofRanges('-', '-'));
    }
    CodePointSet to = classCharacter(true);
    int start = single(from);
    int end = single(to);
    if (start > end || (hasMore() && peek() == '-')) {
      throw new UnsupportedPatternException("a range of a character class is malformed");
    }
    return CodePointSet.ofRanges(start, end);
  }

  private CodePointSet classCharacter(boolean first) throws UnsupportedPatternException {
    if (!hasMore()) {
      throw new UnsupportedPatternException("a character class is not closed");
    }
    int codePoint = next();
    boolean joins = codePoint == '&' && hasMore() && peek() == '&';
    boolean isMeta = codePoint == '[' || codePoint == ']' || (codePoint == '^' && first);
    if (joins || isMeta || (codePoint == '-' && !first)) {
      throw new UnsupportedPatternException("a character class contains other than characters");
    }
    if (codePoint == '\\') {
      RegexpEscape read = RegexpEscape.read(pattern, position);
      position = read.end();
      return read.set();
    }
    if (Character.isSupplementaryCodePoint(codePoint)) {
      throw new UnsupportedPatternException("a character class has a supplementary character");
    }
    return literalSet(codePoint);
  }

  private static int single(CodePointSet set) throws UnsupportedPatternException {
    CodePointSet.Range range = set.ranges().get(0);
    if (set.ranges().size() > 1 || range.first() != range.last()) {
      throw new UnsupportedPatternException("a range of a character class is malformed");
    }
    return range.first();
  }

  private static RegexpNode literal(int codePoint) throws UnsupportedPatternException {
    return new Characters(literalSet(codePoint));
  }

  private static CodePointSet literalSet(int codePoint) throws UnsupportedPatternException {
    if (Character.isSurrogate((char) codePoint) && Character.isBmpCodePoint(codePoint)) {
      throw new UnsupportedPatternException("it has an unpaired surrogate");
    }
    return CodePointSet.ofRanges(codePoint, codePoint);
  }

  private boolean hasMore() {
    return position < pattern.length;
  }

  private int peek() {
    return pattern[position];
  }

  private int next() {
    return pattern[position++];
  }

  private boolean startsWith(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (position + i >= pattern.length || pattern[position + i] != text.charAt(i)) {
        return false;
      }
    }
    return true;
  }
}
