// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import java.util.Map;

/**
 * A backslash escape in a regular expression, inside or outside of a class.
 *
 * @param set the matching characters
 * @param end position in the pattern after the escape
 */
record RegexpEscape(CodePointSet set, int end) {
  private static final int ESCAPE = 0x1b;
  private static final int BELL = 0x07;
  private static final CodePointSet DIGITS = CodePointSet.ofRanges('0', '9');
  private static final CodePointSet WORD =
      CodePointSet.ofRanges('a', 'z', 'A', 'Z', '0', '9', '_', '_');
  private static final CodePointSet SPACES = CodePointSet.ofRanges('\t', '\r', ' ', ' ');
  private static final Map<String, CodePointSet> POSIX =
      Map.of(
          "Alpha", CodePointSet.ofRanges('a', 'z', 'A', 'Z'),
          "Upper", CodePointSet.ofRanges('A', 'Z'),
          "Lower", CodePointSet.ofRanges('a', 'z'),
          "Digit", DIGITS,
          "Alnum", CodePointSet.ofRanges('a', 'z', 'A', 'Z', '0', '9'),
          "Space", SPACES,
          "Punct", CodePointSet.ofRanges('!', '/', ':', '@', '[', '`', '{', '~'));

  /**
   * Parses an escape.
   *
   * @param position position of the code point after the backslash
   * @throws UnsupportedPatternException if the escape does not stand for characters
   */
  static RegexpEscape read(int[] pattern, int position) throws UnsupportedPatternException {
    int codePoint = position < pattern.length ? pattern[position] : 0;
    return switch (codePoint) {
      case 'd' -> new RegexpEscape(DIGITS, position + 1);
      case 'D' -> new RegexpEscape(DIGITS.complement(), position + 1);
      case 'w' -> new RegexpEscape(WORD, position + 1);
      case 'W' -> new RegexpEscape(WORD.complement(), position + 1);
      case 's' -> new RegexpEscape(SPACES, position + 1);
      case 'S' -> new RegexpEscape(SPACES.complement(), position + 1);
      case 't' -> one('\t', position + 1);
      case 'n' -> one('\n', position + 1);
      case 'r' -> one('\r', position + 1);
      case 'f' -> one('\f', position + 1);
      case 'a' -> one(BELL, position + 1);
      case 'e' -> one(ESCAPE, position + 1);
      case 'x' -> one(hexadecimal(pattern, position + 1, 2), position + 3);
      case 'u' -> one(hexadecimal(pattern, position + 1, 4), position + 5);
      case 'p' -> posix(pattern, position + 1);
      default -> literal(codePoint, position + 1);
    };
  }

  private static RegexpEscape one(int codePoint, int end) throws UnsupportedPatternException {
    if (codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE) {
      throw new UnsupportedPatternException("it has an unpaired surrogate");
    }
    return new RegexpEscape(CodePointSet.ofRanges(codePoint, codePoint), end);
  }

  private static RegexpEscape literal(int codePoint, int end) throws UnsupportedPatternException {
    boolean isLetterOrDigit =
        (codePoint >= 'a' && codePoint <= 'z')
            || (codePoint >= 'A' && codePoint <= 'Z')
            || (codePoint >= '0' && codePoint <= '9');
    if (codePoint == 0 || isLetterOrDigit || Character.isSupplementaryCodePoint(codePoint)) {
      throw new UnsupportedPatternException(
          "it has the escape \\" + (codePoint == 0 ? "" : Character.toString(codePoint)));
    }
    return one(codePoint, end);
  }

  private static int hexadecimal(int[] pattern, int start, int digits)
      throws UnsupportedPatternException {
    int value = 0;
    for (int i = start; i < start + digits; i++) {
      int digit = i < pattern.length && pattern[i] < 0x80 ? Character.digit(pattern[i], 16) : -1;
      if (digit < 0) {
        throw new UnsupportedPatternException("a hexadecimal escape is malformed");
      }
      value = value * 16 + digit;
    }
    return value;
  }

  private static RegexpEscape posix(int[] pattern, int start) throws UnsupportedPatternException {
    StringBuilder name = new StringBuilder();
    int end = start;
    if (end < pattern.length && pattern[end] == '{') {
      for (end++; end < pattern.length && pattern[end] != '}'; end++) {
        name.appendCodePoint(pattern[end]);
      }
    }
    CodePointSet set = POSIX.get(name.toString());
    if (set == null || end >= pattern.length) {
      throw new UnsupportedPatternException("it has a character property that is not POSIX");
    }
    return new RegexpEscape(set, end + 1);
  }
}
