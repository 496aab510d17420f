// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.nested;

import static io.millrace.column.DataType.BOOL;
import static io.millrace.column.DataType.FLOAT64;
import static io.millrace.column.DataType.INT32;
import static io.millrace.column.DataType.STRING;
import static io.millrace.expression.function.nested.NestedArguments.anyNullable;
import static io.millrace.expression.function.nested.NestedArguments.arrayAndElement;
import static io.millrace.expression.function.nested.NestedArguments.arrayElement;
import static io.millrace.expression.function.nested.NestedArguments.arrayOf;
import static io.millrace.expression.function.nested.NestedArguments.castTo;
import static io.millrace.expression.function.nested.NestedArguments.commonElement;
import static io.millrace.expression.function.nested.NestedArguments.named;
import static io.millrace.expression.function.nested.NestedArguments.onHost;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.function.nested.ChosenElements.Choice;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Functions over arrays whose results are arrays or elements. */
@Internal
public final class ArrayFunctions {
  private static final DataType INTS = DataType.list(INT32);
  private static final DataType STRINGS = DataType.list(STRING);
  private static final DataType DOUBLES = DataType.list(FLOAT64);
  private static final Signature[] ONE = {
    Signature.of(INTS), Signature.of(STRINGS), Signature.of(DOUBLES)
  };
  private static final Signature[] TWO = {
    Signature.of(INTS, INTS), Signature.of(STRINGS, STRINGS), Signature.of(DOUBLES, DOUBLES)
  };
  private static final Signature[] WITH_ELEMENT = {
    Signature.of(INTS, INT32), Signature.of(STRINGS, STRING), Signature.of(DOUBLES, FLOAT64)
  };

  private ArrayFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return Stream.of(searches(), additions(), sets(), orders()).flatMap(List::stream).toList();
  }

  private static List<FunctionDefinition> searches() {
    return List.of(
        named("ARRAY_CONTAINS", WITH_ELEMENT)
            .description("Whether an array has an element, which may be null.")
            .bind(
                (arguments, context) ->
                    onHost("ARRAY_CONTAINS")
                        .takesNulls()
                        .host(HostFunction.ofRow(ArraySearch::contains))
                        .call(
                            equatable(arrayAndElement(arguments, context)),
                            BOOL,
                            arguments.get(0).nullable())),
        named("ARRAY_POSITION", WITH_ELEMENT)
            .description(
                "The position of the first element that is equal, from 1 on; 0 if none is.")
            .bind(
                (arguments, context) ->
                    onHost("ARRAY_POSITION")
                        .host(HostFunction.ofRow(ArraySearch::position))
                        .call(equatable(arrayAndElement(arguments, context)), INT32)),
        named("ARRAY_REMOVE", WITH_ELEMENT)
            .description("An array without the elements that are equal, or null if the value is.")
            .bind(
                (arguments, context) ->
                    onHost("ARRAY_REMOVE")
                        .takesNulls()
                        .host(ChosenElements.listOfNullable(ArrayEdits::remove))
                        .call(
                            equatable(arrayAndElement(arguments, context)),
                            arguments.get(0).type(),
                            arguments.get(0).nullable())));
  }

  private static List<FunctionDefinition> additions() {
    return List.of(
        added("ARRAY_APPEND", "An array with one more element at its end.", ArrayEdits::append),
        added("ARRAY_PREPEND", "An array with one more element at its begin.", ArrayEdits::prepend),
        named("ARRAY_CONCAT", TWO)
            .description("The elements of arrays, one array after the other.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 1, Integer.MAX_VALUE);
                  return ofArrays("ARRAY_CONCAT", arguments, ArrayEdits::concat);
                }),
        named("ARRAY_REVERSE", ONE)
            .description("An array from its end to its begin.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 1, 1);
                  return ofArrays("ARRAY_REVERSE", arguments, ArrayEdits::reverse);
                }),
        named("ARRAY_SLICE", Signature.of(INTS, INT32), Signature.of(STRINGS, INT32, INT32))
            .description(
                "The elements from a position to another, which is included: positions count from"
                    + " 1, and negative ones from the end.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 2, 3);
                  arrayElement(arguments, 0);
                  List<TypedExpression> operands = new ArrayList<>(List.of(arguments.get(0)));
                  for (TypedExpression bound : arguments.subList(1, arguments.size())) {
                    operands.add(castTo(INT32, bound, context));
                  }
                  return onHost("ARRAY_SLICE")
                      .host(ChosenElements.listOf(ArrayEdits::slice))
                      .call(operands, arguments.get(0).type());
                }));
  }

  private static FunctionDefinition added(String name, String description, Choice choice) {
    return named(name, WITH_ELEMENT)
        .description(description)
        .bind(
            (arguments, context) -> {
              List<TypedExpression> operands = arrayAndElement(arguments, context);
              Field element = arrayElement(operands, 0);
              boolean hasNull = operands.get(1).nullable();
              // Flink says that the array may be null if the element may be.
              return onHost(name)
                  .takesNulls()
                  .host(ChosenElements.listOfNullable(choice))
                  .call(
                      operands,
                      arrayOf(element.type(), element.nullable() || hasNull),
                      operands.get(0).nullable() || hasNull);
            });
  }

  private static List<FunctionDefinition> sets() {
    return List.of(
        named("ARRAY_DISTINCT", ONE)
            .description("The different elements of an array, in the order in which they come.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 1, 1);
                  return ofArrays("ARRAY_DISTINCT", equatable(arguments), ArrayEdits::union);
                }),
        set("ARRAY_UNION", "The different elements of two arrays.", ArrayEdits::union),
        set(
            "ARRAY_EXCEPT",
            "The different elements of an array that the other does not have.",
            ArrayEdits::except),
        set(
            "ARRAY_INTERSECT",
            "The different elements of an array that the other has, too.",
            ArrayEdits::intersect));
  }

  private static FunctionDefinition set(String name, String description, Choice choice) {
    return named(name, TWO)
        .description(description)
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 2, 2);
              return ofArrays(name, equatable(arguments), choice);
            });
  }

  private static List<FunctionDefinition> orders() {
    return List.of(
        extreme("ARRAY_MAX", "The greatest element; null if there is none.", true),
        extreme("ARRAY_MIN", "The least element; null if there is none.", false),
        named(
                "ARRAY_SORT",
                Signature.of(INTS),
                Signature.of(STRINGS, BOOL),
                Signature.of(INTS, BOOL, BOOL))
            .description(
                "A sorted array: ascending unless told by the second argument, with nulls first if"
                    + " it is ascending, unless told by the third.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 1, 3);
                  checkOrdered(arguments);
                  for (int i = 1; i < arguments.size(); i++) {
                    Arguments.typed(arguments, i, TypeId.BOOL);
                  }
                  return onHost("ARRAY_SORT")
                      .host(ChosenElements.listOf(ArrayEdits::sort))
                      .call(arguments, arguments.get(0).type());
                }));
  }

  private static FunctionDefinition extreme(String name, String description, boolean greatest) {
    return named(name, ONE)
        .description(description)
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 1);
              checkOrdered(arguments);
              return onHost(name)
                  .nullable()
                  .host(HostFunction.ofRow(new ArraySearch.Extreme(greatest)::evaluate))
                  .call(arguments, arrayElement(arguments, 0).type());
            });
  }

  private static TypedExpression ofArrays(
      String name, List<TypedExpression> arrays, Choice choice) {
    Field element = commonElement(arrays);
    return onHost(name)
        .host(ChosenElements.listOf(choice))
        .call(arrays, arrayOf(element.type(), element.nullable()), anyNullable(arrays));
  }

  private static List<TypedExpression> equatable(List<TypedExpression> arguments) {
    Elements.checkEquatable(arrayElement(arguments, 0).type());
    return arguments;
  }

  private static void checkOrdered(List<TypedExpression> arguments) {
    DataType element = arrayElement(arguments, 0).type();
    if (!element.id().isScalar() || element.id() == TypeId.BOOL) {
      throw new ExpressionException("values of " + element + " have no order");
    }
  }
}
