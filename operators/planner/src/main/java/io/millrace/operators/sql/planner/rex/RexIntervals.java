// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.type.SqlTypeFamily;

/**
 * Arithmetic with intervals. A column holds them as numbers, of months or of milliseconds, so that
 * most of it is arithmetic of numbers; but text of an interval is not text of its number.
 */
final class RexIntervals {
  private static final Set<SqlKind> OF_NUMBERS =
      EnumSet.of(SqlKind.PLUS, SqlKind.MINUS, SqlKind.TIMES, SqlKind.IS_NULL, SqlKind.IS_NOT_NULL);
  private static final Set<String> OF_ANY_TYPE =
      Set.of("COALESCE", "IF", "ROW", "ARRAY", "MAP", "ITEM");

  static {
    OF_NUMBERS.addAll(SqlKind.COMPARISON);
  }

  private RexIntervals() {}

  private static boolean isMonths(RexNode node) {
    return node.getType().getSqlTypeName().getFamily() == SqlTypeFamily.INTERVAL_YEAR_MONTH;
  }

  static boolean isInterval(RexNode node) {
    return isMonths(node)
        || node.getType().getSqlTypeName().getFamily() == SqlTypeFamily.INTERVAL_DAY_TIME;
  }

  /** Whether a sum or a difference has a time among its operands, and an interval somewhere. */
  static boolean isOfTime(RexCall call) {
    List<RexNode> operands = call.getOperands();
    boolean isDifference =
        isInterval(call) && operands.stream().noneMatch(RexIntervals::isInterval);
    return isDifference
        || (operands.stream().anyMatch(RexIntervals::isInterval)
            && !operands.stream().allMatch(RexIntervals::isInterval));
  }

  /**
   * Checks that a function which is called by its name takes an interval as the number that it is.
   *
   * @throws UnsupportedNodeException if it does not
   */
  static void check(RexCall call) {
    boolean takesNumbers =
        OF_NUMBERS.contains(call.getKind()) || OF_ANY_TYPE.contains(call.getOperator().getName());
    if (!takesNumbers && call.getOperands().stream().anyMatch(RexIntervals::isInterval)) {
      throw new UnsupportedNodeException("an interval in " + RexConverter.text(call));
    }
  }

  /** A time plus or minus an interval, or the interval between two times. */
  static Expression ofTime(RexCall call, RexConverter converter) {
    RexNode left = call.getOperands().get(0);
    RexNode right = call.getOperands().get(1);
    if (isInterval(call)) {
      String unit = isMonths(call) ? "MONTH" : "SECOND";
      return Expressions.call(
          "MINUS_DATE", converter.convert(left), converter.convert(right), unit);
    }
    boolean isIntervalFirst = isInterval(left);
    RexNode time = isIntervalFirst ? right : left;
    RexNode interval = isIntervalFirst ? left : right;
    Expression amount = converter.convert(interval);
    return Expressions.call(
        "DATETIME_PLUS",
        converter.convert(time),
        call.getKind() == SqlKind.MINUS ? negated(amount) : amount,
        isMonths(interval) ? "MONTH" : unit(RexConverter.type(time), RexConverter.type(call)));
  }

  private static Expression negated(Expression amount) {
    return amount instanceof Expression.Literal literal && literal.value() instanceof Long number
        ? new Expression.Literal(-number, literal.type())
        : Expressions.call("NEGATE", amount);
  }

  // The unit that gives a sum the type that it has in Flink.
  private static String unit(DataType time, DataType sum) {
    if (time.id() == TypeId.DATE && sum.id() == TypeId.DATE) {
      return "DAY";
    }
    return time.isTimestamp() && !sum.equals(time) ? "MILLISECOND" : "SECOND";
  }
}
