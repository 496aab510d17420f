// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.conditional;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.function.comparison.Comparison;
import io.millrace.expression.function.comparison.ComparisonFunctions;
import io.millrace.expression.function.logical.LogicalFunctions;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/** Conditional functions. {@code CASE} itself is part of the expression tree. */
@Internal
public final class ConditionalFunctions {
  private ConditionalFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(
        FunctionDefinition.named("COALESCE")
            .family(FunctionFamily.CONDITIONAL)
            .signatures(pairs())
            .description(
                "The first value that is not null. All values up to the first NOT NULL value"
                    + " are evaluated.")
            .differences(
                "Rejects mixed dates, times and timestamps, which Flink converts to DATE or"
                    + " TIME.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 1, Integer.MAX_VALUE);
                  return coalesce(arguments, context);
                }),
        FunctionDefinition.named("IFNULL")
            .family(FunctionFamily.CONDITIONAL)
            .signatures(pairs())
            .description(
                "The first value if it is not null, otherwise the second. Both are evaluated.")
            .differences(
                "Rejects mixed dates, times and timestamps, which Flink converts to DATE or"
                    + " TIME.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 2, 2);
                  List<TypedExpression> values = castToCommonType(arguments, context);
                  return firstPresent(values.get(0), values.get(1));
                }),
        FunctionDefinition.named("NULLIF")
            .family(FunctionFamily.CONDITIONAL)
            .signatures(pairs())
            .description("Null if both values are equal, otherwise the first value.")
            .bind(ConditionalFunctions::nullIf),
        FunctionDefinition.named("IF")
            .family(FunctionFamily.CONDITIONAL)
            .signatures(values().map(type -> Signature.of(DataType.BOOL, type, type)).toList())
            .description("The second value if the condition is true, otherwise the third.")
            .bind(ConditionalFunctions::ifThenElse),
        extreme(
            GreatestLeast.GREATEST,
            "The greatest value; NaN is greater than all numbers. Null if any value is" + " null."),
        extreme(
            GreatestLeast.LEAST,
            "The least value; NaN is greater than all numbers. Null if any value is null."));
  }

  private static Stream<DataType> values() {
    return Stream.concat(Stream.of(DataType.BOOL), ComparisonFunctions.ORDERED.stream());
  }

  private static List<Signature> pairs() {
    return values().map(type -> Signature.of(type, type)).toList();
  }

  private static List<TypedExpression> castToCommonType(
      List<TypedExpression> arguments, BindingContext context) {
    DataType type = Coercion.commonArgumentType(arguments);
    return arguments.stream().map(argument -> Coercion.cast(argument, type, context)).toList();
  }

  private static TypedExpression coalesce(List<TypedExpression> arguments, BindingContext context) {
    List<TypedExpression> values = castToCommonType(arguments, context);
    int last = 0;
    while (last < values.size() - 1 && arguments.get(last).nullable()) {
      last++;
    }
    TypedExpression result = values.get(last);
    for (int i = last - 1; i >= 0; i--) {
      result = firstPresent(values.get(i), result);
    }
    return result;
  }

  /** Evaluates the second value even for rows that do not need it if it may fail, as Flink does. */
  private static TypedExpression firstPresent(TypedExpression first, TypedExpression second) {
    List<TypedExpression> conditions = new ArrayList<>();
    if (mayFail(second)) {
      conditions.add(new TypedExpression.IsNull(second));
    }
    conditions.add(LogicalFunctions.not(new TypedExpression.IsNull(first)));
    List<TypedExpression> results = new ArrayList<>(Collections.nCopies(conditions.size(), first));
    results.add(second);
    return new TypedExpression.Case(conditions, results, first.nullable() && second.nullable());
  }

  private static boolean mayFail(TypedExpression expression) {
    return expression.nodes().stream()
        .anyMatch(
            node ->
                node instanceof TypedExpression.Call call
                    && call.function().outcome() == BoundFunction.Outcome.FAILING);
  }

  private static TypedExpression nullIf(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 2, 2);
    TypedExpression value = arguments.get(0);
    return new TypedExpression.Case(
        List.of(Comparison.EQUAL.of(value, arguments.get(1), context)),
        List.of(Arguments.nullOf(value.type()), value));
  }

  private static TypedExpression ifThenElse(
      List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 3, 3);
    Arguments.typed(arguments, 0, TypeId.BOOL);
    TypedExpression.Case branches =
        Coercion.caseOf(arguments.subList(0, 1), arguments.subList(1, 3), context);
    return new TypedExpression.Case(
        branches.conditions(),
        branches.results(),
        arguments.get(0).nullable() || branches.nullable());
  }

  private static FunctionDefinition extreme(GreatestLeast extreme, String description) {
    return FunctionDefinition.named(extreme.name())
        .family(FunctionFamily.CONDITIONAL)
        .signatures(
            ComparisonFunctions.ORDERED.stream()
                .map(type -> Signature.of(type, type, type))
                .toList())
        .description(description)
        .differences(
            "Flink fails for a null among DECIMALs of different types and compares a"
                + " TIMESTAMP with a TIMESTAMP_LTZ as if it were in UTC.")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, Integer.MAX_VALUE);
              return castToCommonType(arguments, context).stream()
                  .reduce((left, right) -> extreme.of(left, right, context))
                  .orElseThrow();
            });
  }
}
