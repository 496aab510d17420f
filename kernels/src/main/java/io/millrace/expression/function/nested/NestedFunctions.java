// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.nested;

import static io.millrace.column.DataType.INT32;
import static io.millrace.column.DataType.STRING;
import static io.millrace.expression.function.nested.NestedArguments.anyNullable;
import static io.millrace.expression.function.nested.NestedArguments.arrayElement;
import static io.millrace.expression.function.nested.NestedArguments.arrayOf;
import static io.millrace.expression.function.nested.NestedArguments.named;
import static io.millrace.expression.function.nested.NestedArguments.ofOneType;
import static io.millrace.expression.function.nested.NestedArguments.onHost;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.StructConstructor;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import java.util.List;

/** Constructors of rows and arrays, and what arrays and maps both have: elements and a length. */
@Internal
public final class NestedFunctions {
  private static final DataType INTS = DataType.list(INT32);
  private static final DataType STRINGS = DataType.list(STRING);
  private static final DataType MAP =
      DataType.map(Field.of("key", STRING), Field.of("value", INT32));

  private NestedFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(
        named("ROW", Signature.of(INT32, STRING))
            .description("A row of values. Fields of a row that is selected are computed alone.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 1, Integer.MAX_VALUE);
                  return StructConstructor.of(arguments);
                }),
        named("ARRAY", Signature.of(INT32, INT32), Signature.of(STRING, STRING))
            .description("An array of values, which are cast to their common type.")
            .sql(arguments -> "ARRAY[" + String.join(", ", arguments) + "]")
            .bind(NestedFunctions::array),
        named(
                "ITEM",
                Signature.of(INTS, INT32),
                Signature.of(STRINGS, INT32),
                Signature.of(MAP, STRING))
            .description(
                "The element of an array at a position that counts from 1, or the value of a key of"
                    + " a map; null if there is none.")
            .sql(arguments -> arguments.get(0) + "[" + arguments.get(1) + "]")
            .bind(NestedFunctions::item),
        named("CARDINALITY", Signature.of(INTS), Signature.of(STRINGS), Signature.of(MAP))
            .description("The number of elements of an array, or of entries of a map.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 1, 1);
                  Arguments.typed(arguments, 0, TypeId.LIST);
                  return onHost("CARDINALITY")
                      .host(HostFunction.ofRow(ArraySearch::length))
                      .call(arguments, INT32);
                }),
        named("ELEMENT", Signature.of(INTS), Signature.of(STRINGS))
            .description("The only element of an array; null if it has none. More elements fail.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 1, 1);
                  return onHost("ELEMENT")
                      .failing()
                      .host(HostFunction.ofFallibleRow(NestedFunctions::element))
                      .call(arguments, arrayElement(arguments, 0).type(), true);
                }));
  }

  private static TypedExpression array(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 1, Integer.MAX_VALUE);
    List<TypedExpression> elements = ofOneType(arguments, context);
    return onHost("ARRAY")
        .takesNulls()
        .host(ChosenElements.listOf(ArrayEdits::constructor))
        .sql(operands -> "ARRAY[" + String.join(", ", operands) + "]")
        .call(elements, arrayOf(elements.get(0).type(), anyNullable(elements)), false);
  }

  private static TypedExpression item(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 2, 2);
    if (Arguments.typed(arguments, 0, TypeId.LIST).type().isMap()) {
      return MapFunctions.value(arguments, context);
    }
    Field element = arrayElement(arguments, 0);
    if (!arguments.get(1).type().isInteger()) {
      throw Arguments.wrongType(arguments.get(1));
    }
    boolean isBefore =
        Arguments.literal(arguments, 1).filter(index -> (Long) index < 1).isPresent();
    if (isBefore) {
      throw new ExpressionException("expected a position from 1 on, got " + arguments.get(1));
    }
    return onHost("ITEM")
        .nullable()
        .host(HostFunction.ofRow(ArraySearch::item))
        .sql(operands -> operands.get(0) + "[" + operands.get(1) + "]")
        .call(arguments, element.type());
  }

  private static void element(HostVector[] operands, HostVector result, int row, Rows rows) {
    switch (operands[0].length(row)) {
      case 0 -> result.setNull(row);
      case 1 -> result.copy(row, operands[0].elements(), operands[0].firstElement(row));
      default -> rows.refuse(row, "Array has more than one element.");
    }
  }
}
