// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.function.logical.LogicalFunctions;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Tests of the characters of a string; false for a null. */
@Internal
public final class StringPredicateFunctions {
  private StringPredicateFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(
        predicate(
            "IS_ALPHA",
            "is_alpha",
            StringPredicates::isAlpha,
            type -> false,
            "Whether a string consists of letters; false for a null or a number."),
        predicate(
            "IS_DIGIT",
            "is_digit",
            StringPredicates::isDigit,
            DataType::isInteger,
            "Whether a string consists of digits; false for a null. True for an integer,"
                + " even a null, and false for other numbers."),
        predicate(
            "IS_DECIMAL",
            "is_decimal",
            StringPredicates::isDecimal,
            type -> type.isInteger() || type.isFloatingPoint(),
            "Whether a string is a number; false for a null. True for an integer or"
                + " floating-point number, even a null, and false for a DECIMAL."));
  }

  private static FunctionDefinition predicate(
      String name,
      String device,
      HostFunction.RowFunction host,
      Predicate<DataType> holdsForNumbers,
      String description) {
    return StringFunctions.named(
            name,
            Stream.of(DataType.STRING, DataType.INT32, DataType.FLOAT64, DataType.decimal(10, 2))
                .map(Signature::of)
                .toArray(Signature[]::new))
        .description(description)
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 1);
              TypedExpression value = arguments.get(0);
              TypedExpression isNull = new TypedExpression.IsNull(value);
              TypedExpression isNotNull = LogicalFunctions.not(isNull);
              if (value.type().id() != TypeId.STRING) {
                if (!value.type().isNumeric()) {
                  throw Arguments.wrongType(value);
                }
                // The value does not matter, but Flink evaluates it, and it may fail.
                List<TypedExpression> both = List.of(isNull, isNotNull);
                return holdsForNumbers.test(value.type())
                    ? new TypedExpression.Or(both)
                    : new TypedExpression.And(both);
              }
              TypedExpression.Call holds =
                  BoundFunction.named(name)
                      .failing()
                      .host(HostFunction.ofRow(host))
                      .device(device)
                      .call(List.of(value), DataType.BOOL, false);
              return new TypedExpression.And(List.of(isNotNull, holds));
            });
  }
}
