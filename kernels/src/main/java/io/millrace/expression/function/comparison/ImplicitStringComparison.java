// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.comparison;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.ConstantFolding;
import io.millrace.expression.typed.TypedExpression;
import java.util.List;

/**
 * Comparisons of a text with a number, a date or a time, whose type the text is cast to, as Flink's
 * planner and generated code do; for numbers to the common type with BIGINT. A text that is no such
 * value fails where it is ordered, and is null where it is compared for equality, which Flink
 * refuses for numbers.
 */
final class ImplicitStringComparison {
  private ImplicitStringComparison() {}

  /** Whether one of the two is a text, and the other a number, a date or a time. */
  static boolean compares(TypedExpression left, TypedExpression right) {
    return left.type().id() != right.type().id()
        && (isText(left) ? isValue(right) : isText(right) && isValue(left));
  }

  private static boolean isText(TypedExpression expression) {
    return expression.type().id() == TypeId.STRING && !isNullLiteral(expression);
  }

  private static boolean isValue(TypedExpression expression) {
    return (isTemporal(expression.type()) || expression.type().isNumeric())
        && !isNullLiteral(expression);
  }

  private static boolean isNullLiteral(TypedExpression expression) {
    return expression instanceof TypedExpression.Literal literal && literal.value() == null;
  }

  private static boolean isTemporal(DataType type) {
    return type.id() == TypeId.DATE || type.id() == TypeId.TIME || type.isTimestamp();
  }

  /**
   * The comparison of two of which one is a text.
   *
   * @throws ExpressionException if it is one for equality with a number, or the text is a literal
   *     of no such value
   */
  static TypedExpression of(
      Comparison comparison, TypedExpression left, TypedExpression right, BindingContext context) {
    DataType type = isText(left) ? right.type() : left.type();
    TypedExpression result =
        comparison == Comparison.EQUAL || comparison == Comparison.NOT_EQUAL
            ? comparison.of(orNull(left, type, context), orNull(right, type, context), context)
            : order(comparison, left, right, type, context);
    // To Flink the comparison of two that are never null is none either.
    return left.nullable() || right.nullable() ? result : orElse(result, false);
  }

  private static TypedExpression orNull(
      TypedExpression operand, DataType type, BindingContext context) {
    if (type.isNumeric()) {
      throw new ExpressionException("a STRING is equal to no " + type + "; cast one to the other");
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
   * The expression cast to a type; a literal stays one.
   *
   * @throws ExpressionException if there is no such cast, or the literal is no such value
   */
  static TypedExpression cast(TypedExpression expression, DataType type, BindingContext context) {
    TypedExpression cast = Coercion.cast(expression, type, context);
    if (expression instanceof TypedExpression.Literal
        && cast instanceof TypedExpression.Call call) {
      return ConstantFolding.fold(call)
          .orElseThrow(() -> new ExpressionException(expression + " is no " + type));
    }
    return cast;
  }

  /** A condition, and {@code otherwise} where it is null. */
  static TypedExpression orElse(TypedExpression condition, boolean otherwise) {
    return condition.nullable()
        ? new TypedExpression.Case(
            List.of(new TypedExpression.IsNull(condition)),
            List.of(new TypedExpression.Literal(otherwise, DataType.BOOL), condition),
            false)
        : condition;
  }
}
