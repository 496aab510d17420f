// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.comparison;

import io.millrace.column.DataType;
import io.millrace.expression.function.decimal.DecimalHostFunctions;
import io.millrace.expression.function.decimal.DecimalRegisters;
import io.millrace.expression.function.decimal.DecimalType;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.util.List;

/**
 * Order of decimals where Flink does not compare in the common type. Decimals whose common type
 * cannot hold both are compared exactly. A decimal and a floating-point number are compared with
 * NaN above all numbers and -0.0 below zero.
 */
final class DecimalComparison {

  private DecimalComparison() {}

  /** Whether this class compares {@code left} and {@code right}. */
  static boolean orders(DataType left, DataType right) {
    if (!left.isDecimal() && !right.isDecimal()) {
      return false;
    }
    return left.isFloatingPoint()
        || right.isFloatingPoint()
        || exactPrecision(Coercion.asDecimal(left), Coercion.asDecimal(right))
            > DecimalType.MAX_PRECISION;
  }

  private static int exactPrecision(DataType left, DataType right) {
    return Math.max(DecimalType.whole(left), DecimalType.whole(right))
        + Math.max(left.scale(), right.scale());
  }

  /** {@code left < right}, or {@code left <= right} if {@code orEqual}. */
  static TypedExpression less(
      boolean orEqual, TypedExpression left, TypedExpression right, BindingContext context) {
    return left.type().isFloatingPoint() || right.type().isFloatingPoint()
        ? lessAsDoubles(orEqual, left, right, context)
        : lessExactly(orEqual, left, right);
  }

  private static BoundFunction.Builder function(boolean orEqual) {
    String symbol = orEqual ? "<=" : "<";
    return BoundFunction.named(symbol)
        .sql(operands -> "(" + String.join(" " + symbol + " ", operands) + ")");
  }

  private static TypedExpression lessExactly(
      boolean orEqual, TypedExpression left, TypedExpression right) {
    TypedExpression a = DecimalRegisters.widen(left);
    TypedExpression b = DecimalRegisters.widen(right);
    int scale = Math.max(a.type().scale(), b.type().scale());
    int leftShift = scale - a.type().scale();
    int rightShift = scale - b.type().scale();
    String name = orEqual ? "decimal_less_or_equal" : "decimal_less";
    return function(orEqual)
        .host(DecimalHostFunctions.isLess(orEqual, leftShift, rightShift))
        .device(DecimalRegisters.library(name, leftShift, rightShift))
        .call(List.of(a, b), DataType.BOOL);
  }

  private static TypedExpression lessAsDoubles(
      boolean orEqual, TypedExpression left, TypedExpression right, BindingContext context) {
    return function(orEqual)
        .parameters("total order")
        .host(isLess(orEqual))
        .device(orEqual ? "double_orders_not_after" : "double_orders_before")
        .call(
            List.of(
                Coercion.cast(left, DataType.FLOAT64, context),
                Coercion.cast(right, DataType.FLOAT64, context)),
            DataType.BOOL);
  }

  private static HostFunction isLess(boolean orEqual) {
    return HostFunction.ofRow(
        (operands, result, row) -> {
          int order = Double.compare(operands[0].doubles()[row], operands[1].doubles()[row]);
          result.setBoolean(row, orEqual ? order <= 0 : order < 0);
        });
  }
}
