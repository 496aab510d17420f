// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.util.ArrayList;
import java.util.List;

/**
 * DATETIME_PLUS and MINUS_DATE: arithmetic with intervals that are values. An INTERVAL DAY TO
 * SECOND is a BIGINT of milliseconds, an INTERVAL YEAR TO MONTH an INT of months, as in Flink's
 * rows, so that sums, multiples and comparisons of intervals are those of numbers.
 */
@Internal
public final class IntervalValueFunctions {
  private static final int MILLI_DIGITS = 3;
  private static final List<DateTimeUnit> OF_TIMESTAMP =
      List.of(DateTimeUnit.MONTH, DateTimeUnit.DAY, DateTimeUnit.SECOND, DateTimeUnit.MILLISECOND);
  private static final List<DateTimeUnit> OF_DATE =
      List.of(DateTimeUnit.MONTH, DateTimeUnit.DAY, DateTimeUnit.SECOND);
  private static final List<DateTimeUnit> OF_TIME = List.of(DateTimeUnit.DAY, DateTimeUnit.SECOND);
  private static final List<DateTimeUnit> DIFFERENCES =
      List.of(DateTimeUnit.MONTH, DateTimeUnit.SECOND);
  private static final List<DateTimeUnit> DIFFERENCE_OF_TIMES = List.of(DateTimeUnit.SECOND);

  private IntervalValueFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(plus(), minus());
  }

  // ---- DATETIME_PLUS ----

  private static FunctionDefinition plus() {
    List<Signature> signatures = new ArrayList<>();
    List<DataType> types = new ArrayList<>(List.of(DataType.DATE));
    types.addAll(DateTimeFunctions.TIMESTAMPS);
    for (DataType type : types) {
      signatures.add(plus(type, DataType.INT32, DateTimeUnit.MONTH));
      boolean hasMillis = !type.isTimestamp() || type.precision() >= MILLI_DIGITS;
      DateTimeUnit unit = hasMillis ? DateTimeUnit.DAY : DateTimeUnit.MILLISECOND;
      signatures.add(plus(type, DataType.INT64, unit));
    }
    signatures.add(plus(DataType.TIME, DataType.INT64, DateTimeUnit.SECOND));
    return FunctionDefinition.named("DATETIME_PLUS")
        .family(FunctionFamily.TEMPORAL)
        .signatures(signatures)
        .description(
            "The sum of a date, time or timestamp and an interval: a number of months if the unit"
                + " is MONTH, else a number of milliseconds. A DATE plus whole days of an interval"
                + " with the unit DAY is a DATE, with the unit SECOND it is a TIMESTAMP; with the"
                + " unit MILLISECOND the sum has three digits.")
        .differences("Fails for a TIMESTAMP(4..6) outside the years -290307 to 294246.")
        .sql(a -> "(" + a.get(0) + " + " + a.get(1) + " * " + oneOf(a.get(2)) + ")")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 3, 3);
              TypedExpression value = arguments.get(0);
              TypedExpression interval = arguments.get(1);
              if (!interval.type().isInteger()) {
                throw Arguments.wrongType(interval);
              }
              DateTimeUnit unit =
                  DateTimeUnit.of(Arguments.literalString(arguments, 2), unitsAddedTo(value));
              return unit.isMonths()
                  ? IntervalFunctions.addMonths(
                      value, Coercion.cast(interval, DataType.INT32, context))
                  : IntervalFunctions.add(
                      unit, value, Coercion.cast(interval, DataType.INT64, context));
            });
  }

  private static Signature plus(DataType type, DataType interval, DateTimeUnit unit) {
    return Signature.of(
        Signature.any(type), Signature.any(interval), DateTimeFunctions.unitLiteral(List.of(unit)));
  }

  /** The interval of one month or one millisecond that begins with a unit. */
  private static String oneOf(String unit) {
    return switch (DateTimeFunctions.unquoted(unit)) {
      case "MONTH" -> "INTERVAL '1' MONTH";
      case "DAY" -> "INTERVAL '0 00:00:00.001' DAY TO SECOND(3)";
      default -> "INTERVAL '0.001' SECOND(2, 3)";
    };
  }

  private static List<DateTimeUnit> unitsAddedTo(TypedExpression value) {
    return switch (value.type().id()) {
      case DATE -> OF_DATE;
      case TIME -> OF_TIME;
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> OF_TIMESTAMP;
      default -> throw Arguments.wrongType(value);
    };
  }

  // ---- MINUS_DATE ----

  private static FunctionDefinition minus() {
    List<Signature> signatures = new ArrayList<>();
    for (DateTimeUnit unit : DIFFERENCES) {
      signatures.add(minus(unit, DataType.DATE, DataType.DATE));
      for (DataType type : DateTimeFunctions.TIMESTAMPS) {
        signatures.add(minus(unit, type, type));
      }
    }
    signatures.add(minus(DateTimeUnit.SECOND, DataType.TIME, DataType.TIME));
    return FunctionDefinition.named("MINUS_DATE")
        .family(FunctionFamily.TEMPORAL)
        .signatures(signatures)
        .description(
            "The interval from the second value to the first: whole months if the unit is MONTH,"
                + " milliseconds if it is SECOND.")
        .differences(
            "Differences in months of dates outside the years -4712 to 5874898 deviate from"
                + " Flink.")
        .sql(
            a ->
                "(("
                    + a.get(0)
                    + " - "
                    + a.get(1)
                    + ") "
                    + DateTimeFunctions.unquoted(a.get(2))
                    + ")")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 3, 3);
              return minus(
                  arguments.get(0), arguments.get(1), Arguments.literalString(arguments, 2));
            });
  }

  private static Signature minus(DateTimeUnit unit, DataType left, DataType right) {
    return Signature.of(
        Signature.any(left), Signature.any(right), DateTimeFunctions.unitLiteral(List.of(unit)));
  }

  private static TypedExpression minus(TypedExpression left, TypedExpression right, String symbol) {
    boolean isTime = left.type().id() == TypeId.TIME;
    if (isTime != (right.type().id() == TypeId.TIME)
        || left.type().withTimeZone() != right.type().withTimeZone()) {
      throw new ExpressionException(left + " and " + right + " cannot be subtracted");
    }
    DateTimeUnit unit = DateTimeUnit.of(symbol, isTime ? DIFFERENCE_OF_TIMES : DIFFERENCES);
    if (unit.isMonths()) {
      return IntervalFunctions.difference(symbol, right, left);
    }
    return BoundFunction.named("MINUS_DATE")
        .host(HostFunction.ofLongs((a, b) -> a - b))
        .device(
            DeviceFunction.instructions(
                (ptx, operands, result) ->
                    ptx.write(
                        "sub.s64 %s, %s, %s",
                        result.register(), operands.get(0).register(), operands.get(1).register())))
        .sql(a -> "((" + a.get(0) + " - " + a.get(1) + ") SECOND)")
        .call(
            List.of(IntervalFunctions.timestamp(left), IntervalFunctions.timestamp(right)),
            DataType.INT64);
  }
}
