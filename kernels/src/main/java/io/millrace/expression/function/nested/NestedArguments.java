// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.nested;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import java.util.ArrayList;
import java.util.List;

/** Types of arguments and results of functions over arrays and maps. */
final class NestedArguments {
  private static final String REASON = "arrays and maps";

  private NestedArguments() {}

  static FunctionDefinition.Builder named(String name, Signature... signatures) {
    return FunctionDefinition.named(name).family(FunctionFamily.NESTED).signatures(signatures);
  }

  /** A function that the host evaluates, also for tables on a device. */
  static BoundFunction.Builder onHost(String name) {
    return BoundFunction.named(name).hostOnly(REASON);
  }

  static DataType arrayOf(DataType element, boolean nullable) {
    Field field = new Field("element", element, nullable);
    return new DataType(TypeId.LIST, 0, 0, false, List.of(field));
  }

  /** The element field of an argument that must be an ARRAY. */
  static Field arrayElement(List<TypedExpression> arguments, int index) {
    TypedExpression argument = Arguments.typed(arguments, index, TypeId.LIST);
    if (argument.type().isMap()) {
      throw Arguments.wrongType(argument);
    }
    return argument.type().fields().get(0);
  }

  /** The key field and the value field of an argument that must be a MAP. */
  static List<Field> mapEntry(List<TypedExpression> arguments, int index) {
    TypedExpression argument = Arguments.typed(arguments, index, TypeId.LIST);
    if (!argument.type().isMap()) {
      throw Arguments.wrongType(argument);
    }
    return argument.type().fields().get(0).type().fields();
  }

  /**
   * The element field of arrays that must have elements of one type; nullable if that of any is.
   *
   * @throws ExpressionException if an argument is not an ARRAY, or has other elements
   */
  static Field commonElement(List<TypedExpression> arguments) {
    Field first = arrayElement(arguments, 0);
    boolean nullable = false;
    for (int i = 0; i < arguments.size(); i++) {
      Field element = arrayElement(arguments, i);
      if (!element.type().equals(first.type())) {
        throw new ExpressionException(
            "expected arrays of " + first.type() + ", got one of " + element.type());
      }
      nullable |= element.nullable();
    }
    return new Field(first.name(), first.type(), nullable);
  }

  /**
   * An array and a value that is cast to the type of its elements.
   *
   * @throws ExpressionException if the value has values that an element cannot have
   */
  static List<TypedExpression> arrayAndElement(
      List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 2, 2);
    DataType element = arrayElement(arguments, 0).type();
    return List.of(arguments.get(0), castTo(element, arguments.get(1), context));
  }

  static TypedExpression castTo(DataType type, TypedExpression value, BindingContext context) {
    boolean fits =
        Arguments.isNullLiteral(value) || Coercion.common(value.type(), type).equals(type);
    if (!fits) {
      throw new ExpressionException("expected " + type + ", got " + value + " " + value.type());
    }
    return Coercion.cast(value, type, context);
  }

  /** Casts values to their common type, which may also be nested. */
  static List<TypedExpression> ofOneType(List<TypedExpression> values, BindingContext context) {
    DataType type = Coercion.leastRestrictiveType(values);
    List<TypedExpression> cast = new ArrayList<>();
    values.forEach(value -> cast.add(Coercion.cast(value, type, context)));
    return cast;
  }

  static boolean anyNullable(List<TypedExpression> arguments) {
    return arguments.stream().anyMatch(TypedExpression::nullable);
  }
}
