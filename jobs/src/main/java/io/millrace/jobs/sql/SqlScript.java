// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.sql;

import java.util.ArrayList;
import java.util.List;

/** Splits a script at the semicolons that are neither in quotes nor in comments. */
final class SqlScript {
  /**
   * A part of a script, which is a statement or, in a set of statements, the beginning of one.
   *
   * @param line where it begins, from 1
   * @param text without comments in front of it, with its semicolon
   */
  record Part(int line, String text) {
    /** This part and the one behind it. */
    Part and(Part next) {
      return new Part(line, text + "\n" + next.text);
    }
  }

  private final String script;
  private final List<Part> parts = new ArrayList<>();
  private int position;
  private boolean isOpen;

  private SqlScript(String script) {
    this.script = script;
  }

  /** The parts that are not blank. */
  static List<Part> parts(String script) {
    return new SqlScript(script).split();
  }

  /** Whether the script ends within quotes or a comment, so that its last statement has no end. */
  static boolean endsWithinQuotes(String script) {
    SqlScript split = new SqlScript(script);
    split.split();
    return split.isOpen;
  }

  private List<Part> split() {
    skipBlanks();
    int start = position;
    while (position < script.length()) {
      char first = script.charAt(position);
      if (first == ';') {
        position++;
        add(start);
        skipBlanks();
        start = position;
      } else if (!skipComment()) {
        position = isQuote(first) ? behind(String.valueOf(first), position + 1) : position + 1;
      }
    }
    add(start);
    return parts;
  }

  private void add(int start) {
    String text = script.substring(start, position).strip();
    if (!text.isEmpty() && !text.equals(";")) {
      long lines = script.substring(0, start).chars().filter(c -> c == '\n').count();
      parts.add(new Part((int) lines + 1, text));
    }
  }

  private void skipBlanks() {
    boolean skipped = true;
    while (skipped) {
      skipped = skipSpace() || skipComment();
    }
  }

  private boolean skipSpace() {
    int start = position;
    while (position < script.length() && Character.isWhitespace(script.charAt(position))) {
      position++;
    }
    return position > start;
  }

  private boolean skipComment() {
    if (script.startsWith("--", position)) {
      position = behind("\n", position);
      return true;
    }
    if (script.startsWith("/*", position)) {
      position = behind("*/", position + 2);
      return true;
    }
    return false;
  }

  private static boolean isQuote(char character) {
    return character == '\'' || character == '"' || character == '`';
  }

  private int behind(String end, int from) {
    int found = script.indexOf(end, from);
    isOpen |= found < 0 && !end.equals("\n");
    return found < 0 ? script.length() : found + end.length();
  }
}
