// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.util.List;
import java.util.stream.Stream;

/**
 * Casts to TIME(0), TIME(1) and TIME(2), written {@code CAST_TIME(t, n)} because columns of TIME
 * store milliseconds. As in Flink, digits are truncated towards midnight, also for negative times.
 */
@Internal
public final class TimePrecision {
  /** Fraction digits that a column of TIME stores. */
  static final int OF_COLUMNS = 3;

  private static final String CAST_TIME = "CAST_TIME";

  private TimePrecision() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(
        FunctionDefinition.named(CAST_TIME)
            .family(FunctionFamily.CAST)
            .signatures(
                Signature.of(
                    Signature.any(DataType.TIME), Signature.literal(DataType.INT32, 0L, 1L, 2L)))
            .description("Truncates a time to n fraction digits; written CAST(t AS TIME(n)).")
            .differences(
                "A column of TIME is Flink's TIME(3). A time keeps a smaller precision only"
                    + " within an expression, where its cast to STRING shows no more digits.")
            .sql(arguments -> sql(arguments.get(0), arguments.get(1)))
            .bind((arguments, context) -> bind(arguments)));
  }

  private static String sql(String time, String precision) {
    return "CAST(" + time + " AS TIME(" + precision + "))";
  }

  private static TypedExpression bind(List<TypedExpression> arguments) {
    Arguments.count(arguments, 2, 2);
    TypedExpression time = Arguments.typed(arguments, 0, TypeId.TIME);
    long precision = Arguments.literalInteger(arguments, 1);
    if (precision < 0 || precision > OF_COLUMNS) {
      throw new ExpressionException(
          "expected a precision of 0 to " + OF_COLUMNS + " for TIME, got " + precision);
    }
    int unit = DateTimeArithmetic.powerOfTen(OF_COLUMNS - (int) precision);
    return BoundFunction.named(CAST_TIME)
        .parameters((int) precision)
        .host(HostFunction.ofLongs((millis, size) -> millis - millis % size))
        .device("truncate_time")
        .sql(operands -> sql(operands.get(0), String.valueOf(precision)))
        .call(List.of(time, Timestamps.literal(unit)), DataType.TIME);
  }

  /** The fraction digits of Flink's type for an expression of TIME, as far as Flink shows them. */
  static int of(TypedExpression time) {
    if (time instanceof TypedExpression.Call call) {
      BoundFunction function = call.function();
      if (function.name().equals(CAST_TIME)) {
        return (Integer) function.parameters().get(0);
      }
    }
    Stream<TypedExpression> operands =
        time instanceof TypedExpression.Case branches
            ? branches.results().stream()
            : time.operands().stream();
    return operands
        .filter(operand -> operand.type().id() == TypeId.TIME)
        .filter(operand -> !Arguments.isNullLiteral(operand))
        .mapToInt(TimePrecision::of)
        .max()
        .orElse(OF_COLUMNS);
  }
}
