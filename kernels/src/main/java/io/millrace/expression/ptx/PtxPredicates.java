// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.ptx;

import io.millrace.annotation.Internal;

/** Writes logic on predicate registers. A null predicate stands for true. */
@Internal
public final class PtxPredicates {
  private static final String PREDICATE = ".pred";

  private final PtxWriter ptx;

  public PtxPredicates(PtxWriter ptx) {
    this.ptx = ptx;
  }

  public String constant(boolean value) {
    String predicate = ptx.register(PREDICATE);
    ptx.write("setp.%s.s32 %s, 0, 0", value ? "eq" : "ne", predicate);
    return predicate;
  }

  public String not(String predicate) {
    String result = ptx.register(PREDICATE);
    ptx.write("not.pred %s, %s", result, predicate);
    return result;
  }

  /** Conjunction; null if both operands are null. */
  public String and(String left, String right) {
    if (left == null || right == null) {
      return left == null ? right : left;
    }
    String result = ptx.register(PREDICATE);
    ptx.write("and.pred %s, %s, %s", result, left, right);
    return result;
  }

  /** Compares a 32-bit register with a number. */
  public String compare(String condition, String register, int number) {
    String result = ptx.register(PREDICATE);
    ptx.write("setp.%s.s32 %s, %s, %d", condition, result, register, number);
    return result;
  }

  /** Writes {@code chosen} if the condition is true, otherwise {@code otherwise}. */
  public void select(
      String type, String result, String chosen, String otherwise, String condition) {
    if (type.equals(PREDICATE)) {
      String first = and(chosen, condition);
      String second = and(otherwise, not(condition));
      ptx.write("or.pred %s, %s, %s", result, first, second);
    } else {
      ptx.write("selp%s %s, %s, %s, %s", type, result, chosen, otherwise, condition);
    }
  }
}
