// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import java.math.BigDecimal;
import java.util.List;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.type.SqlTypeFamily;

/**
 * Sums and differences of a time and a constant interval, which the planner keeps in milliseconds
 * or months.
 */
final class RexIntervals {
  private static final long MILLIS_OF_SECOND = 1_000;
  private static final long MILLIS_OF_DAY = 86_400_000;

  private RexIntervals() {}

  static boolean isIn(List<RexNode> operands) {
    return operands.stream().anyMatch(RexIntervals::isInterval);
  }

  private static boolean isInterval(RexNode node) {
    return isMonths(node)
        || node.getType().getSqlTypeName().getFamily() == SqlTypeFamily.INTERVAL_DAY_TIME;
  }

  private static boolean isMonths(RexNode node) {
    return node.getType().getSqlTypeName().getFamily() == SqlTypeFamily.INTERVAL_YEAR_MONTH;
  }

  static Expression add(RexCall call, RexConverter converter) {
    boolean first = isInterval(call.getOperands().get(0));
    RexNode time = call.getOperands().get(first ? 1 : 0);
    RexNode interval = call.getOperands().get(first ? 0 : 1);
    if (isInterval(time) || !(interval instanceof RexLiteral literal) || literal.isNull()) {
      throw new UnsupportedNodeException("interval arithmetic " + RexConverter.text(call));
    }
    long amount = literal.getValueAs(BigDecimal.class).longValueExact();
    long signed = call.getKind() == SqlKind.MINUS ? -amount : amount;
    Expression operand = converter.convert(time);
    if (isMonths(interval)) {
      return Expressions.call("TIMESTAMPADD", "MONTH", signed, operand);
    }
    return switch (converter.typeOf(operand).id()) {
      case DATE -> add("DAY", signed, MILLIS_OF_DAY, operand);
      case TIME -> Expressions.call("TIMESTAMPADD", "MILLISECOND", signed, operand);
      default -> add("SECOND", signed, MILLIS_OF_SECOND, operand);
    };
  }

  private static Expression add(String unit, long millis, long size, Expression operand) {
    if (millis % size != 0) {
      throw new UnsupportedNodeException("an interval of parts of a " + unit);
    }
    return Expressions.call("TIMESTAMPADD", unit, millis / size, operand);
  }
}
