// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.pattern;

import io.millrace.expression.error.ExpressionException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** Translates a SIMILAR TO pattern to a Java regular expression, as Flink's SqlLikeUtils does. */
final class SimilarPattern {
  private static final String JAVA_SPECIALS = "[]()|^-+*?{}$\\.";
  private static final String SIMILAR_SPECIALS = "[]()|^-+*_%?{}";
  private static final char NO_ESCAPE = 0;
  private static final Map<String, String> CLASSES = new LinkedHashMap<>();

  static {
    CLASSES.put("alpha", "\\p{Alpha}");
    CLASSES.put("upper", "\\p{Upper}");
    CLASSES.put("lower", "\\p{Lower}");
    CLASSES.put("digit", "\\d");
    CLASSES.put("space", " ");
    CLASSES.put("whitespace", "\\s");
    CLASSES.put("alnum", "\\p{Alnum}");
  }

  private final String pattern;
  private final char escape;
  private final StringBuilder regex = new StringBuilder();
  private int position;

  private SimilarPattern(String pattern, char escape) {
    this.pattern = pattern;
    this.escape = escape;
  }

  /**
   * Translates a pattern without an escape character.
   *
   * @return a regular expression for the whole string
   * @throws ExpressionException if the pattern is malformed; Java may still reject the result
   */
  static String toRegex(String pattern) {
    return new SimilarPattern(pattern, NO_ESCAPE).translate();
  }

  /**
   * Translates a pattern with an escape character.
   *
   * @throws ExpressionException if the pattern or the escape character is malformed
   */
  static String toRegex(String pattern, String escape) {
    if (escape.length() != 1 || escape.charAt(0) == NO_ESCAPE) {
      throw new ExpressionException("invalid escape character '" + escape + "'");
    }
    return new SimilarPattern(pattern, escape.charAt(0)).translate();
  }

  private String translate() {
    checkEscapes();
    while (position < pattern.length()) {
      char next = pattern.charAt(position++);
      if (next == escape && escape != NO_ESCAPE) {
        appendEscaped();
        continue;
      }
      switch (next) {
        case '_' -> regex.append('.');
        case '%' -> regex.append("(?s:.*)");
        case '[' -> appendEnumeration();
        case ']' -> throw malformed();
        case '\\' -> regex.append("\\\\");
        case '$' -> regex.append("\\$");
        default -> regex.append(next);
      }
    }
    return regex.toString();
  }

  // SQL:2003 part 2, section 8.6, general rule 3: an escape character that is a special character
  // may precede special characters only, and a colon as escape character excludes character
  // classes.
  private void checkEscapes() {
    boolean isSpecial = escape != NO_ESCAPE && SIMILAR_SPECIALS.indexOf(escape) >= 0;
    for (int i = 0; isSpecial && i < pattern.length(); i++) {
      if (pattern.charAt(i) == escape) {
        char escaped = i + 1 < pattern.length() ? pattern.charAt(i + 1) : NO_ESCAPE;
        if (escaped != escape && SIMILAR_SPECIALS.indexOf(escaped) < 0) {
          throw malformed();
        }
      }
    }
    if (escape == ':' && !(pattern.contains("[:") && pattern.contains(":]"))) {
      throw malformed();
    }
  }

  private void appendEscaped() {
    char escaped = position < pattern.length() ? pattern.charAt(position++) : NO_ESCAPE;
    boolean isSpecial = SIMILAR_SPECIALS.indexOf(escaped) >= 0;
    if (!isSpecial && escaped != escape) {
      throw malformed();
    }
    if (isSpecial && JAVA_SPECIALS.indexOf(escaped) >= 0) {
      regex.append('\\');
    }
    regex.append(escaped);
  }

  private void appendEnumeration() {
    regex.append('[');
    while (position < pattern.length()) {
      char next = pattern.charAt(position++);
      if (next == ']') {
        regex.append(']');
        return;
      } else if (next == escape && escape != NO_ESCAPE) {
        appendEscaped();
      } else if (next == '-' || next == '^') {
        regex.append(next);
      } else if (next == '[') {
        appendClass();
      } else if (SIMILAR_SPECIALS.indexOf(next) >= 0) {
        throw malformed();
      } else {
        regex.append(next);
      }
    }
    throw malformed();
  }

  private void appendClass() {
    for (Map.Entry<String, String> known : CLASSES.entrySet()) {
      String lower = ":" + known.getKey() + ":]";
      String upper = ":" + upperCase(known.getKey()) + ":]";
      if (pattern.startsWith(lower, position) || pattern.startsWith(upper, position)) {
        regex.append(known.getValue());
        position += lower.length();
        return;
      }
    }
    throw malformed();
  }

  private static String upperCase(String ascii) {
    return ascii.toUpperCase(Locale.ROOT);
  }

  private ExpressionException malformed() {
    return new ExpressionException("invalid regular expression '" + pattern + "'");
  }
}
