// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.column.TypeId;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;

/** JSON functions whose operands are not the arguments of Millrace's function. */
final class RexJson {
  private static final int TEXT_AND_PATH = 2;

  private RexJson() {}

  /** JSON_VALUE, whose returned type the planner keeps as the type of the call alone. */
  static Expression value(RexCall call, RexConverter converter) {
    List<Expression> arguments =
        new ArrayList<>(call.getOperands().stream().map(converter::argument).toList());
    String type =
        switch (RexConverter.type(call).id()) {
          case STRING -> "STRING";
          case BOOL -> "BOOLEAN";
          case INT32 -> "INT";
          case FLOAT64 -> "DOUBLE";
          default -> throw new UnsupportedNodeException("JSON_VALUE that gives " + call.getType());
        };
    arguments.addAll(TEXT_AND_PATH, List.of(Expressions.lit("RETURNING"), Expressions.lit(type)));
    return new Expression.Call("JSON_VALUE", arguments);
  }

  /** JSON_QUERY, whose returned type the planner keeps as the type of the call alone. */
  static Expression query(RexCall call, RexConverter converter) {
    List<Expression> arguments =
        new ArrayList<>(call.getOperands().stream().map(converter::argument).toList());
    if (RexConverter.type(call).id() == TypeId.LIST) {
      arguments.add(Expressions.lit("ARRAY<STRING>"));
    }
    return new Expression.Call("JSON_QUERY", arguments);
  }

  /** JSON_OBJECT and JSON_ARRAY, whose values may be calls of JSON. */
  static Expression constructed(RexCall call, RexConverter converter) {
    return new Expression.Call(
        call.getOperator().getName(),
        call.getOperands().stream().map(operand -> member(operand, converter)).toList());
  }

  private static Expression member(RexNode operand, RexConverter converter) {
    return operand instanceof RexCall call && call.getOperator().getName().equals("JSON")
        ? Expressions.call("JSON", converter.convert(call.getOperands().get(0)))
        : converter.argument(operand);
  }

  /** The Table API's IS_JSON, with the kind of value as its second operand. */
  static Expression is(RexCall call, RexConverter converter) {
    List<RexNode> operands = call.getOperands();
    String kind = operands.size() == 1 ? "VALUE" : RexLiterals.symbol(operands.get(1));
    return Expressions.call("IS JSON " + kind, converter.convert(operands.get(0)));
  }
}
