// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import io.millrace.expression.vector.HostVector;
import java.util.function.IntPredicate;

/** Host implementations of tests of the characters of a string. */
final class StringPredicates {
  private StringPredicates() {}

  /** Whether all characters are letters; a character beyond U+FFFF is not. */
  static void isAlpha(HostVector[] operands, HostVector result, int row) {
    result.setBoolean(row, all(operands[0].getString(row), Character::isLetter));
  }

  /** Whether all characters are digits of any script; a character beyond U+FFFF is not. */
  static void isDigit(HostVector[] operands, HostVector result, int row) {
    result.setBoolean(row, all(operands[0].getString(row), Character::isDigit));
  }

  private static boolean all(String text, IntPredicate predicate) {
    return !text.isEmpty() && text.chars().allMatch(predicate);
  }

  /**
   * Whether {@link Integer#parseInt}, {@link Long#parseLong} or {@link Double#parseDouble} accepts
   * the string.
   */
  static void isDecimal(HostVector[] operands, HostVector result, int row) {
    String text = operands[0].getString(row);
    result.setBoolean(row, isNumber(text, Long::parseLong) || isNumber(text, Double::parseDouble));
  }

  private interface Parser {
    Number parse(String text);
  }

  private static boolean isNumber(String text, Parser parser) {
    try {
      parser.parse(text);
      return true;
    } catch (NumberFormatException e) {
      return false;
    }
  }
}
