// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.comparison;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.expression.function.logical.LogicalFunctions;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.TypedExpression;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Comparison operators, BETWEEN and IN. */
@Internal
public final class ComparisonFunctions {
  public static final List<DataType> ORDERED =
      List.of(
          DataType.INT8,
          DataType.INT16,
          DataType.INT32,
          DataType.INT64,
          DataType.FLOAT32,
          DataType.FLOAT64,
          DataType.decimal(7, 2),
          DataType.decimal(15, 4),
          DataType.decimal(30, 6),
          DataType.DATE,
          DataType.TIME,
          DataType.timestamp(3),
          DataType.timestamp(6),
          DataType.timestamp(9),
          DataType.timestamp(3, true),
          DataType.STRING);

  private static final List<Signature> MIXED =
      List.of(
          Signature.of(DataType.INT32, DataType.INT64),
          Signature.of(DataType.INT64, DataType.FLOAT32),
          Signature.of(DataType.INT64, DataType.FLOAT64),
          Signature.of(DataType.FLOAT32, DataType.FLOAT64),
          Signature.of(DataType.decimal(7, 2), DataType.INT32),
          Signature.of(DataType.INT64, DataType.decimal(15, 4)),
          Signature.of(DataType.decimal(15, 4), DataType.decimal(30, 6)),
          Signature.of(DataType.decimal(30, 6), DataType.FLOAT64),
          Signature.of(DataType.FLOAT32, DataType.decimal(7, 2)),
          Signature.of(DataType.timestamp(3), DataType.timestamp(9)),
          Signature.of(DataType.timestamp(6), DataType.timestamp(3, true)));

  private static final List<Signature> MIXED_LISTS =
      List.of(
          Signature.of(DataType.INT32, DataType.INT64, DataType.decimal(7, 2)),
          Signature.of(DataType.FLOAT64, DataType.INT32, DataType.decimal(15, 4)),
          Signature.of(DataType.decimal(15, 4), DataType.decimal(30, 6), DataType.INT8),
          Signature.of(DataType.timestamp(3, true), DataType.timestamp(6), DataType.timestamp(3)));

  private ComparisonFunctions() {}

  public static List<FunctionDefinition> definitions() {
    List<FunctionDefinition> definitions = new ArrayList<>();
    for (Comparison comparison : Comparison.values()) {
      definitions.add(comparison(comparison));
    }
    definitions.add(
        between(
            "BETWEEN", "Whether a value is between two others, inclusive; compares as <= does."));
    definitions.add(
        between("NOT BETWEEN", "Whether a value is outside a range; compares as < does."));
    definitions.add(
        in(
            "IN",
            "Whether a value equals one of the others. Strings are cast to the type of the"
                + " value."));
    definitions.add(
        in(
            "NOT IN",
            "Whether a value equals none of the others. Strings are cast to the type of"
                + " the value."));
    definitions.add(isNull("IS NULL", "Whether a value is null."));
    definitions.add(isNull("IS NOT NULL", "Whether a value is not null."));
    definitions.add(
        distinct(
            "IS DISTINCT FROM",
            "Whether two values differ. Null equals null and differs from every value."));
    definitions.add(
        distinct(
            "IS NOT DISTINCT FROM",
            "Whether two values are equal. Null equals null and differs from every value."));
    return definitions;
  }

  private static FunctionDefinition comparison(Comparison comparison) {
    boolean equality = comparison == Comparison.EQUAL || comparison == Comparison.NOT_EQUAL;
    return FunctionDefinition.named(comparison.symbol())
        .aliases(comparison == Comparison.NOT_EQUAL ? new String[] {"!="} : new String[0])
        .family(FunctionFamily.COMPARISON)
        .signatures(Stream.concat(signatures(2, equality).stream(), MIXED.stream()).toList())
        .description(
            equality
                ? "Compares two values in their common type. A STRING is cast to the DATE, TIME"
                    + " or TIMESTAMP it is compared with."
                : "Compares two values in their common type. A STRING is cast to the type of the"
                    + " number, date or time it is compared with, BIGINT for integers.")
        .infix(comparison.symbol())
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 2, 2);
              return comparison.of(arguments.get(0), arguments.get(1), context);
            });
  }

  private static List<Signature> signatures(int arguments, boolean withBoolean) {
    Stream<DataType> types =
        withBoolean ? Stream.concat(Stream.of(DataType.BOOL), ORDERED.stream()) : ORDERED.stream();
    return types
        .map(
            type ->
                Signature.of(Stream.generate(() -> type).limit(arguments).toArray(DataType[]::new)))
        .toList();
  }

  private static FunctionDefinition between(String name, String description) {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.COMPARISON)
        .signatures(signatures(3, false))
        .description(description)
        .sql(a -> "(" + a.get(0) + " " + name + " " + a.get(1) + " AND " + a.get(2) + ")")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 3, 3);
              TypedExpression value = arguments.get(0);
              boolean within = name.equals("BETWEEN");
              Comparison low = within ? Comparison.GREATER_OR_EQUAL : Comparison.LESS;
              Comparison high = within ? Comparison.LESS_OR_EQUAL : Comparison.GREATER;
              List<TypedExpression> sides =
                  List.of(
                      low.of(value, arguments.get(1), context),
                      high.of(value, arguments.get(2), context));
              return within ? new TypedExpression.And(sides) : new TypedExpression.Or(sides);
            });
  }

  private static FunctionDefinition in(String name, String description) {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.COMPARISON)
        .signatures(Stream.concat(signatures(3, true).stream(), MIXED_LISTS.stream()).toList())
        .description(description)
        .sql(
            a ->
                "("
                    + a.get(0)
                    + " "
                    + name
                    + " ("
                    + String.join(", ", a.subList(1, a.size()))
                    + "))")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 2, Integer.MAX_VALUE);
              return InList.of(
                  name.equals("IN"),
                  arguments.get(0),
                  arguments.subList(1, arguments.size()),
                  context);
            });
  }

  private static FunctionDefinition isNull(String name, String description) {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.COMPARISON)
        .signatures(signatures(1, true))
        .description(description)
        .sql(a -> "(" + a.get(0) + " " + name + ")")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 1);
              TypedExpression isNull = new TypedExpression.IsNull(arguments.get(0));
              return name.equals("IS NULL") ? isNull : LogicalFunctions.not(isNull);
            });
  }

  private static FunctionDefinition distinct(String name, String description) {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.COMPARISON)
        .signatures(signatures(2, true))
        .description(description)
        .infix(name)
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 2, 2);
              TypedExpression left = arguments.get(0);
              TypedExpression right = arguments.get(1);
              boolean distinct = name.equals("IS DISTINCT FROM");
              TypedExpression rightIsNull = new TypedExpression.IsNull(right);
              Comparison comparison = distinct ? Comparison.NOT_EQUAL : Comparison.EQUAL;
              TypedExpression ofNulls = distinct ? LogicalFunctions.not(rightIsNull) : rightIsNull;
              TypedExpression ofValues = comparison.ofUncast(left, right, context);
              return new TypedExpression.Case(
                  List.of(new TypedExpression.IsNull(left), rightIsNull),
                  List.of(
                      ofNulls,
                      new TypedExpression.Literal(distinct, DataType.BOOL),
                      ImplicitStringComparison.compares(left, right)
                          ? ImplicitStringComparison.orElse(ofValues, distinct)
                          : ofValues),
                  false);
            });
  }
}
