// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.typed.TypedExpression;
import java.util.List;
import java.util.Optional;

/** Checks the arguments of a call. Messages name the argument and what was expected. */
@Internal
public final class Arguments {
  private Arguments() {}

  /**
   * Checks the number of arguments.
   *
   * @throws ExpressionException if there are fewer than {@code least} or more than {@code most}
   */
  public static void count(List<TypedExpression> arguments, int least, int most) {
    if (arguments.size() < least || arguments.size() > most) {
      String expected =
          least == most
              ? String.valueOf(least)
              : most == Integer.MAX_VALUE ? "at least " + least : least + " to " + most;
      throw new ExpressionException("expected " + expected + " arguments, got " + arguments.size());
    }
  }

  /**
   * Returns the argument at {@code index} and checks that its type is one of {@code ids}.
   *
   * @throws ExpressionException if the type differs
   */
  public static TypedExpression typed(List<TypedExpression> arguments, int index, TypeId... ids) {
    TypedExpression argument = arguments.get(index);
    if (!List.of(ids).contains(argument.type().id())) {
      throw wrongType(argument);
    }
    return argument;
  }

  /** The exception for an argument of a type that a function does not accept. */
  public static ExpressionException wrongType(TypedExpression argument) {
    return new ExpressionException(argument + " is " + argument.type());
  }

  /** The value of an argument if it is a literal other than null. */
  public static Optional<Object> literal(List<TypedExpression> arguments, int index) {
    return index < arguments.size()
            && arguments.get(index) instanceof TypedExpression.Literal literal
        ? Optional.ofNullable(literal.value())
        : Optional.empty();
  }

  /**
   * The text of an argument that must be a non-null STRING literal.
   *
   * @throws ExpressionException if it is not
   */
  public static String literalString(List<TypedExpression> arguments, int index) {
    return (String)
        literal(arguments, index)
            .filter(String.class::isInstance)
            .orElseThrow(
                () ->
                    new ExpressionException(
                        "expected a STRING literal, got " + arguments.get(index)));
  }

  /**
   * The value of an argument that must be a non-null integer literal.
   *
   * @throws ExpressionException if it is not
   */
  public static long literalInteger(List<TypedExpression> arguments, int index) {
    return (Long)
        literal(arguments, index)
            .filter(value -> arguments.get(index).type().isInteger())
            .orElseThrow(
                () ->
                    new ExpressionException(
                        "expected an integer literal, got " + arguments.get(index)));
  }

  /** Whether an argument is a NULL literal of any type. */
  public static boolean isNullLiteral(TypedExpression argument) {
    return argument instanceof TypedExpression.Literal literal && literal.value() == null;
  }

  /** A null literal of the given type. */
  public static TypedExpression nullOf(DataType type) {
    return new TypedExpression.Literal(null, type);
  }
}
