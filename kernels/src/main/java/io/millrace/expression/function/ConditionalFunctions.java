package io.millrace.expression.function;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.Arguments;
import io.millrace.expression.Coercion;
import io.millrace.expression.FunctionDefinition;
import io.millrace.expression.FunctionFamily;
import io.millrace.expression.ResolutionContext;
import io.millrace.expression.Signature;
import io.millrace.expression.TypedExpression;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Choices between values. {@code CASE} itself is part of the expression tree. */
public final class ConditionalFunctions {
  private ConditionalFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(
        FunctionDefinition.named("COALESCE")
            .family(FunctionFamily.CONDITIONAL)
            .signatures(pairs())
            .description("The first value that is not null; later ones are not evaluated.")
            .bind(ConditionalFunctions::coalesce),
        FunctionDefinition.named("IFNULL")
            .family(FunctionFamily.CONDITIONAL)
            .signatures(pairs())
            .description("The first value if it is not null, else the second.")
            .bind(
                (arguments, context) -> {
                  Arguments.count(arguments, 2, 2);
                  return coalesce(arguments, context);
                }),
        FunctionDefinition.named("NULLIF")
            .family(FunctionFamily.CONDITIONAL)
            .signatures(pairs())
            .description("Null if both values are equal, else the first.")
            .bind(ConditionalFunctions::nullIf),
        FunctionDefinition.named("IF")
            .family(FunctionFamily.CONDITIONAL)
            .signatures(values().map(type -> Signature.of(DataType.BOOL, type, type)).toList())
            .description("The second value where the condition is true, else the third.")
            .bind(ConditionalFunctions::ifThenElse),
        extreme("GREATEST", Comparison.GREATER, "The greatest value; null if one is null."),
        extreme("LEAST", Comparison.LESS, "The least value; null if one is null."));
  }

  private static Stream<DataType> values() {
    return Stream.concat(Stream.of(DataType.BOOL), ComparisonFunctions.ORDERED.stream());
  }

  private static List<Signature> pairs() {
    return values().map(type -> Signature.of(type, type)).toList();
  }

  private static TypedExpression coalesce(
      List<TypedExpression> arguments, ResolutionContext context) {
    Arguments.count(arguments, 1, Integer.MAX_VALUE);
    List<TypedExpression> conditions = new ArrayList<>();
    List<TypedExpression> results = new ArrayList<>();
    int last = arguments.size() - 1;
    for (int i = 0; i < last && arguments.get(i).nullable(); i++) {
      conditions.add(LogicalFunctions.not(new TypedExpression.IsNull(arguments.get(i))));
      results.add(arguments.get(i));
    }
    results.add(arguments.get(results.size()));
    return conditions.isEmpty()
        ? Coercion.cast(results.get(0), Coercion.commonType(arguments), context)
        : Coercion.caseOf(conditions, results, context);
  }

  private static TypedExpression nullIf(
      List<TypedExpression> arguments, ResolutionContext context) {
    Arguments.count(arguments, 2, 2);
    TypedExpression value = arguments.get(0);
    return new TypedExpression.Case(
        List.of(Comparison.EQUAL.of(value, arguments.get(1), context)),
        List.of(Arguments.nullOf(value.type()), value));
  }

  private static TypedExpression ifThenElse(
      List<TypedExpression> arguments, ResolutionContext context) {
    Arguments.count(arguments, 3, 3);
    Arguments.typed(arguments, 0, TypeId.BOOL);
    return Coercion.caseOf(arguments.subList(0, 1), arguments.subList(1, 3), context);
  }

  private static FunctionDefinition extreme(
      String name, Comparison comparison, String description) {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.CONDITIONAL)
        .signatures(
            ComparisonFunctions.ORDERED.stream()
                .map(type -> Signature.of(type, type, type))
                .toList())
        .description(description)
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, Integer.MAX_VALUE);
              return extreme(arguments, comparison, context);
            });
  }

  private static TypedExpression extreme(
      List<TypedExpression> arguments, Comparison comparison, ResolutionContext context) {
    DataType type = Coercion.commonType(arguments);
    List<TypedExpression> values =
        arguments.stream().map(argument -> Coercion.cast(argument, type, context)).toList();
    TypedExpression extreme = values.get(0);
    for (TypedExpression value : values.subList(1, values.size())) {
      extreme =
          new TypedExpression.Case(
              List.of(comparison.of(value, extreme, context)), List.of(value, extreme));
    }
    List<TypedExpression> isNull =
        values.stream()
            .filter(TypedExpression::nullable)
            .<TypedExpression>map(TypedExpression.IsNull::new)
            .toList();
    if (isNull.isEmpty()) {
      return extreme;
    }
    TypedExpression anyNull = isNull.size() == 1 ? isNull.get(0) : new TypedExpression.Or(isNull);
    return new TypedExpression.Case(List.of(anyNull), List.of(Arguments.nullOf(type), extreme));
  }
}
