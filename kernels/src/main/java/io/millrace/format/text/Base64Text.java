// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.text;

import io.millrace.annotation.Internal;

/** Characters of Base64 (RFC 4648) with padding, one after the other. */
@Internal
public final class Base64Text {
  /** The characters of a group, which stands for three bytes. */
  private static final int GROUP = 4;

  private static final int GROUP_BYTES = 3;
  private static final int NO_DIGIT = -1;
  private static final int LETTERS = 26;
  private static final int DIGITS = 10;
  private static final int PLUS = 2 * LETTERS + DIGITS;

  private int characters;
  private int padding;

  public void clear() {
    characters = 0;
    padding = 0;
  }

  /** Takes the next character; false if it cannot stand there. */
  public boolean add(int next) {
    characters++;
    if (next == '=') {
      padding++;
      return padding < GROUP_BYTES;
    }
    return padding == 0 && digit(next) != NO_DIGIT;
  }

  /** Whether the characters are whole groups. */
  public boolean isComplete() {
    return characters % GROUP == 0;
  }

  /** The bytes that the characters stand for. */
  public int bytes() {
    return characters / GROUP * GROUP_BYTES - padding;
  }

  /** The value of a character, 0 to 63; -1 if it has none. */
  public static int digit(int next) {
    if (next >= 'A' && next <= 'Z') {
      return next - 'A';
    }
    if (next >= 'a' && next <= 'z') {
      return next - 'a' + LETTERS;
    }
    if (TextCursor.isDigit(next)) {
      return next - '0' + 2 * LETTERS;
    }
    return next == '+' ? PLUS : next == '/' ? PLUS + 1 : NO_DIGIT;
  }
}
