// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.typed.TypedExpression;
import java.util.List;
import java.util.Optional;

/** Checks of a call's arguments; each says what it misses. */
@Internal
public final class Arguments {
  private Arguments() {}

  /**
   * Checks that there are {@code least} to {@code most} arguments.
   *
   * @throws ExpressionException if there are not
   */
  public static void count(List<TypedExpression> arguments, int least, int most) {
    if (arguments.size() < least || arguments.size() > most) {
      String expected =
          least == most
              ? String.valueOf(least)
              : most == Integer.MAX_VALUE ? "at least " + least : least + " to " + most;
      throw new ExpressionException(arguments.size() + " arguments instead of " + expected);
    }
  }

  /**
   * The argument at {@code index}, which must have one of these types' kinds.
   *
   * @throws ExpressionException if it has not
   */
  public static TypedExpression typed(List<TypedExpression> arguments, int index, TypeId... ids) {
    TypedExpression argument = arguments.get(index);
    if (!List.of(ids).contains(argument.type().id())) {
      throw wrongType(argument);
    }
    return argument;
  }

  /** What is thrown for an argument of a type that a function does not take. */
  public static ExpressionException wrongType(TypedExpression argument) {
    return new ExpressionException(argument + " is " + argument.type());
  }

  /** The value of an argument that is a literal and not null. */
  public static Optional<Object> literal(List<TypedExpression> arguments, int index) {
    return index < arguments.size()
            && arguments.get(index) instanceof TypedExpression.Literal literal
        ? Optional.ofNullable(literal.value())
        : Optional.empty();
  }

  /**
   * The text of an argument that must be a STRING literal.
   *
   * @throws ExpressionException if it is none, or null
   */
  public static String literalString(List<TypedExpression> arguments, int index) {
    return (String)
        literal(arguments, index)
            .filter(String.class::isInstance)
            .orElseThrow(
                () -> new ExpressionException(arguments.get(index) + " is no STRING literal"));
  }

  /**
   * The value of an argument that must be an integer literal.
   *
   * @throws ExpressionException if it is none, or null
   */
  public static long literalInteger(List<TypedExpression> arguments, int index) {
    return (Long)
        literal(arguments, index)
            .filter(value -> arguments.get(index).type().isInteger())
            .orElseThrow(
                () -> new ExpressionException(arguments.get(index) + " is no integer literal"));
  }

  /** Whether an argument is the literal NULL, whatever its type. */
  public static boolean isNullLiteral(TypedExpression argument) {
    return argument instanceof TypedExpression.Literal literal && literal.value() == null;
  }

  /** The null of a type. */
  public static TypedExpression nullOf(DataType type) {
    return new TypedExpression.Literal(null, type);
  }
}
