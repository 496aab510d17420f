// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.comparison;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.ConstantFolding;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.ValueKind;
import java.util.List;

/**
 * Comparisons of a STRING with a number, date or time. As in Flink's planner and generated code,
 * the string is cast to the type of the other side, which for numbers is the common type with
 * BIGINT. A string that cannot be cast fails in an order comparison and is null in an equality
 * comparison. Flink rejects equality of strings and numbers.
 */
final class ImplicitStringComparison {
  private ImplicitStringComparison() {}

  /** Whether one side is a STRING and the other side a number, date or time. */
  static boolean compares(TypedExpression left, TypedExpression right) {
    return left.type().id() != right.type().id()
        && (isText(left) ? isValue(right) : isText(right) && isValue(left));
  }

  private static boolean isText(TypedExpression expression) {
    return expression.type().id() == TypeId.STRING && !Arguments.isNullLiteral(expression);
  }

  private static boolean isValue(TypedExpression expression) {
    return (ValueKind.isTemporal(expression.type()) || expression.type().isNumeric())
        && !Arguments.isNullLiteral(expression);
  }

  /**
   * Compares two expressions, one of which is a STRING.
   *
   * @throws ExpressionException for equality with a number, or if a STRING literal cannot be cast
   */
  static TypedExpression of(
      Comparison comparison, TypedExpression left, TypedExpression right, BindingContext context) {
    DataType type = isText(left) ? right.type() : left.type();
    TypedExpression result =
        comparison == Comparison.EQUAL || comparison == Comparison.NOT_EQUAL
            ? comparison.of(orNull(left, type, context), orNull(right, type, context), context)
            : order(comparison, left, right, type, context);
    // In Flink, a comparison of two NOT NULL operands is NOT NULL.
    return left.nullable() || right.nullable() ? result : orElse(result, false);
  }

  private static TypedExpression orNull(
      TypedExpression operand, DataType type, BindingContext context) {
    if (type.isNumeric()) {
      throw new ExpressionException(
          "cannot test STRING and " + type + " for equality: cast one to the type of the other");
    }
    TypedExpression value = cast(operand, type, context);
    return isText(operand) && value instanceof TypedExpression.Call call
        ? new TypedExpression.Try(call)
        : value;
  }

  private static TypedExpression order(
      Comparison comparison,
      TypedExpression left,
      TypedExpression right,
      DataType type,
      BindingContext context) {
    DataType common = type.isNumeric() ? Coercion.common(DataType.INT64, type) : type;
    return comparison.of(cast(left, common, context), cast(right, common, context), context);
  }

  /**
   * Casts an expression; a literal is folded into a literal.
   *
   * @throws ExpressionException if there is no such cast or a literal cannot be cast
   */
  static TypedExpression cast(TypedExpression expression, DataType type, BindingContext context) {
    TypedExpression cast = Coercion.cast(expression, type, context);
    if (expression instanceof TypedExpression.Literal
        && cast instanceof TypedExpression.Call call) {
      return ConstantFolding.fold(call)
          .orElseThrow(() -> new ExpressionException("expected " + type + ", got " + expression));
    }
    return cast;
  }

  /** The condition, or {@code otherwise} if the condition is null. */
  static TypedExpression orElse(TypedExpression condition, boolean otherwise) {
    return condition.nullable()
        ? new TypedExpression.Case(
            List.of(new TypedExpression.IsNull(condition)),
            List.of(new TypedExpression.Literal(otherwise, DataType.BOOL), condition),
            false)
        : condition;
  }
}
