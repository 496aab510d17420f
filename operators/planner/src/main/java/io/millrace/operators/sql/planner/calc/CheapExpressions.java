// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.calc;

import io.millrace.operators.sql.planner.rex.UserFunctions;
import java.util.EnumSet;
import java.util.Set;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.type.SqlTypeUtil;

/**
 * Expressions that Flink's compiled Calc evaluates faster for a row than the row becomes a part of
 * a batch and a row again: fields, numbers, comparisons and branches. Java of users is called for
 * each row in either case. What was measured is in docs/benchmarks/2026-11-26-sql.md.
 */
final class CheapExpressions {
  private static final Set<SqlKind> KINDS =
      EnumSet.of(
          SqlKind.AND,
          SqlKind.OR,
          SqlKind.NOT,
          SqlKind.IS_NULL,
          SqlKind.IS_NOT_NULL,
          SqlKind.IS_TRUE,
          SqlKind.IS_NOT_TRUE,
          SqlKind.IS_FALSE,
          SqlKind.IS_NOT_FALSE,
          SqlKind.EQUALS,
          SqlKind.NOT_EQUALS,
          SqlKind.LESS_THAN,
          SqlKind.LESS_THAN_OR_EQUAL,
          SqlKind.GREATER_THAN,
          SqlKind.GREATER_THAN_OR_EQUAL,
          SqlKind.BETWEEN,
          SqlKind.SEARCH,
          SqlKind.PLUS,
          SqlKind.MINUS,
          SqlKind.TIMES,
          SqlKind.DIVIDE,
          SqlKind.MOD,
          SqlKind.PLUS_PREFIX,
          SqlKind.MINUS_PREFIX,
          SqlKind.EXTRACT,
          SqlKind.CASE,
          SqlKind.COALESCE);

  private CheapExpressions() {}

  static boolean contains(RexNode node) {
    return node instanceof RexInputRef
        || node instanceof RexFieldAccess
        || node instanceof RexLiteral
        || (node instanceof RexCall call
            && (KINDS.contains(call.getKind())
                || isCheapCast(call)
                || UserFunctions.isPlainJava(call))
            && call.getOperands().stream().allMatch(CheapExpressions::contains));
  }

  private static boolean isCheapCast(RexCall call) {
    if (call.getKind() != SqlKind.CAST) {
      return false;
    }
    RelDataType from = call.getOperands().get(0).getType();
    RelDataType to = call.getType();
    return from.getSqlTypeName() == to.getSqlTypeName()
        || (SqlTypeUtil.isNumeric(from) && SqlTypeUtil.isNumeric(to));
  }
}
