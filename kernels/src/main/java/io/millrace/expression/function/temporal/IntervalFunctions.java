// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.function.numeric.Arithmetic;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.Status;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/** TIMESTAMPADD, which also implements adding and subtracting intervals, and TIMESTAMPDIFF. */
@Internal
public final class IntervalFunctions {
  private static final List<DateTimeUnit> ADDED =
      List.copyOf(EnumSet.range(DateTimeUnit.YEAR, DateTimeUnit.MILLISECOND));
  private static final List<DateTimeUnit> ADDED_TO_DATE =
      List.copyOf(EnumSet.range(DateTimeUnit.YEAR, DateTimeUnit.SECOND));
  private static final List<DateTimeUnit> ADDED_TO_TIME =
      List.copyOf(EnumSet.range(DateTimeUnit.WEEK, DateTimeUnit.MILLISECOND));
  private static final List<DateTimeUnit> COUNTED =
      List.copyOf(EnumSet.range(DateTimeUnit.YEAR, DateTimeUnit.NANOSECOND));
  private static final List<DateTimeUnit> COUNTED_OF_TIME =
      List.copyOf(EnumSet.range(DateTimeUnit.WEEK, DateTimeUnit.NANOSECOND));

  private IntervalFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(add(), difference());
  }

  private static FunctionDefinition add() {
    List<Signature> signatures = new ArrayList<>();
    for (DataType number : List.of(DataType.INT32, DataType.INT64)) {
      signatures.add(signature(ADDED_TO_DATE, number, DataType.DATE));
      signatures.add(signature(ADDED_TO_TIME, number, DataType.TIME));
      for (DataType type : DateTimeFunctions.TIMESTAMPS) {
        signatures.add(signature(ADDED, number, type));
      }
    }
    return FunctionDefinition.named("TIMESTAMPADD")
        .family(FunctionFamily.TEMPORAL)
        .signatures(signatures)
        .description("Adds a number of units to a date, time or timestamp; numbers wrap.")
        .differences(
            "Fails for a TIMESTAMP(4..6) outside the years -290307 to 294246. Months"
                + " cannot be added to a TIME.")
        .sql(a -> sql("TIMESTAMPADD", a))
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 3, 3);
              if (!arguments.get(1).type().isInteger()) {
                throw Arguments.wrongType(arguments.get(1));
              }
              TypedExpression value = arguments.get(2);
              DateTimeUnit unit =
                  DateTimeUnit.of(Arguments.literalString(arguments, 0), unitsAddedTo(value));
              return unit.isMonths()
                  ? addMonths(value, interval(unit, arguments.get(1), DataType.INT32, context))
                  : add(unit, value, interval(unit, arguments.get(1), DataType.INT64, context));
            });
  }

  private static Signature signature(List<DateTimeUnit> units, DataType first, DataType second) {
    return Signature.of(
        DateTimeFunctions.unitLiteral(units), Signature.any(first), Signature.any(second));
  }

  private static String sql(String name, List<String> arguments) {
    return name
        + "("
        + DateTimeFunctions.unquoted(arguments.get(0))
        + ", "
        + arguments.get(1)
        + ", "
        + arguments.get(2)
        + ")";
  }

  private static List<DateTimeUnit> unitsAddedTo(TypedExpression value) {
    return switch (value.type().id()) {
      case DATE -> ADDED_TO_DATE;
      case TIME -> ADDED_TO_TIME;
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> ADDED;
      default -> throw Arguments.wrongType(value);
    };
  }

  /** Converts a number of units to months or milliseconds. */
  private static TypedExpression interval(
      DateTimeUnit unit, TypedExpression number, DataType type, BindingContext context) {
    TypedExpression size = new TypedExpression.Literal((long) unit.size(), type);
    return Arithmetic.MULTIPLY.of(size, Coercion.cast(number, type, context));
  }

  private static BoundFunction.Builder adding(String what) {
    return BoundFunction.named("TIMESTAMPADD")
        .parameters(what)
        .sql(a -> sql("TIMESTAMPADD", List.of(what, a.get(1), a.get(0))));
  }

  /**
   * @param months INT
   */
  static TypedExpression addMonths(TypedExpression value, TypedExpression months) {
    DataType type = value.type();
    if (type.id() == TypeId.DATE) {
      return adding("MONTH")
          .host(
              HostFunction.ofLongs(
                  (date, number) -> JulianCalendar.addMonths((int) date, (int) number)))
          .device("add_months_to_date")
          .call(List.of(value, months), type);
    }
    if (type.id() == TypeId.TIMESTAMP_MILLIS) {
      return adding("MONTH")
          .host(
              HostFunction.ofLongs(
                  (millis, number) -> DateTimeArithmetic.addMonths(millis, (int) number)))
          .device("add_months_to_timestamp")
          .call(List.of(value, months), type);
    }
    TypedExpression nanos = Timestamps.asNanos(value);
    TypedExpression sum =
        adding("MONTH")
            .host(
                HostFunction.ofRow(
                    (operands, result, row) -> {
                      result.longs()[row] =
                          DateTimeArithmetic.addMonths(
                              operands[0].longs()[row], (int) operands[1].longs()[row]);
                      result.secondParts()[row] = operands[0].secondParts()[row];
                    }))
            .device("add_months_to_nanos")
            .call(List.of(nanos, months), nanos.type());
    return Timestamps.as(sum, type);
  }

  /**
   * @param unit of days or less, on which the type of the sum depends
   * @param interval milliseconds, BIGINT
   */
  static TypedExpression add(DateTimeUnit unit, TypedExpression value, TypedExpression interval) {
    DataType type = value.type();
    return switch (type.id()) {
      case DATE ->
          unit.isOfDay()
              ? Timestamps.as(
                  addMillis(
                      Timestamps.ofDate(value, DataType.timestamp(3)),
                      interval,
                      DataType.timestamp(3)),
                  DataType.timestamp(6))
              : addDays(value, interval);
      case TIME ->
          adding("MILLISECOND")
              .host(HostFunction.ofLongs(DateTimeArithmetic::addToTime))
              .device("add_to_time")
              .call(List.of(value, interval), type);
      case TIMESTAMP_MILLIS -> addMillis(value, interval, sumType(unit, type));
      default -> addToNanos(value, interval);
    };
  }

  private static TypedExpression addDays(TypedExpression date, TypedExpression interval) {
    return adding("MILLISECOND")
        .failing()
        .host(
            (operands, result, rows) -> {
              for (int i = 0; i < rows.count(); i++) {
                int row = rows.position(i);
                long days = operands[1].longs()[row] / DateTimeArithmetic.MILLIS_PER_DAY;
                if (days == (int) days) {
                  result.longs()[row] = (int) (operands[0].longs()[row] + days);
                } else {
                  rows.fail(row, Status.INVALID_ARGUMENT);
                }
              }
            })
        .device("add_days_to_date")
        .call(List.of(date, interval), DataType.DATE);
  }

  private static DataType sumType(DateTimeUnit unit, DataType type) {
    return unit == DateTimeUnit.MILLISECOND ? DataType.timestamp(3, type.withTimeZone()) : type;
  }

  private static TypedExpression addMillis(
      TypedExpression timestamp, TypedExpression interval, DataType type) {
    return adding("MILLISECOND")
        .host(HostFunction.ofLongs(Long::sum))
        .device(
            DeviceFunction.instructions(
                (ptx, operands, result) ->
                    ptx.write(
                        "add.s64 %s, %s, %s",
                        result.register(), operands.get(0).register(), operands.get(1).register())))
        .call(List.of(timestamp, interval), type);
  }

  private static TypedExpression addToNanos(TypedExpression timestamp, TypedExpression interval) {
    TypedExpression nanos = Timestamps.asNanos(timestamp);
    TypedExpression sum =
        adding("MILLISECOND")
            .host(
                HostFunction.ofRow(
                    (operands, result, row) -> {
                      result.longs()[row] = operands[0].longs()[row] + operands[1].longs()[row];
                      result.secondParts()[row] = operands[0].secondParts()[row];
                    }))
            .device("add_to_nanos")
            .call(List.of(nanos, interval), nanos.type());
    return Timestamps.as(sum, timestamp.type());
  }

  private static FunctionDefinition difference() {
    List<Signature> signatures = new ArrayList<>();
    signatures.add(signature(COUNTED, DataType.DATE, DataType.DATE));
    signatures.add(signature(COUNTED, DataType.DATE, DataType.timestamp(3)));
    signatures.add(signature(COUNTED, DataType.timestamp(3), DataType.DATE));
    signatures.add(signature(COUNTED_OF_TIME, DataType.TIME, DataType.TIME));
    for (DataType type : DateTimeFunctions.TIMESTAMPS) {
      signatures.add(signature(COUNTED, type, type));
    }
    return FunctionDefinition.named("TIMESTAMPDIFF")
        .family(FunctionFamily.TEMPORAL)
        .signatures(signatures)
        .description(
            "The difference in whole units from the first value to the second. As in Flink"
                + " the result is an INT that wraps, computed from whole seconds for WEEK and"
                + " for units below SECOND; for NANOSECOND it is a BIGINT.")
        .differences(
            "Differences in months of dates outside the years -4712 to 5874898 deviate"
                + " from Flink.")
        .sql(a -> sql("TIMESTAMPDIFF", a))
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 3, 3);
              String symbol = Arguments.literalString(arguments, 0);
              return difference(symbol, arguments.get(1), arguments.get(2));
            });
  }

  static TypedExpression difference(String symbol, TypedExpression from, TypedExpression to) {
    boolean isTime = from.type().id() == TypeId.TIME;
    DateTimeUnit unit = DateTimeUnit.of(symbol, isTime ? COUNTED_OF_TIME : COUNTED);
    if (isTime != (to.type().id() == TypeId.TIME)
        || from.type().withTimeZone() != to.type().withTimeZone()) {
      throw new ExpressionException(from + " and " + to + " cannot be compared");
    }
    List<TypedExpression> operands = List.of(timestamp(from), timestamp(to));
    BoundFunction.Builder function =
        BoundFunction.named("TIMESTAMPDIFF")
            .parameters(unit)
            .sql(a -> sql("TIMESTAMPDIFF", List.of(unit.symbol(), a.get(0), a.get(1))));
    if (unit == DateTimeUnit.NANOSECOND) {
      return function
          .host(HostFunction.ofLongs(DateTimeArithmetic::differenceInNanos))
          .device("difference_in_nanos")
          .call(operands, DataType.INT64);
    }
    boolean isMonths = unit.isMonths();
    int parameter = isMonths ? unit.size() : unit.code();
    return function
        .host(
            HostFunction.ofLongs(
                isMonths
                    ? (a, b) -> DateTimeArithmetic.differenceInMonths(a, b, unit.size())
                    : (a, b) -> DateTimeArithmetic.difference(unit, a, b)))
        .device(isMonths ? "difference_in_months" : "difference_in_units")
        .call(
            List.of(operands.get(0), operands.get(1), Timestamps.literal(parameter)),
            DataType.INT32);
  }

  /** The value as a timestamp of milliseconds. */
  static TypedExpression timestamp(TypedExpression value) {
    return switch (value.type().id()) {
      case DATE -> Timestamps.ofDate(value, DataType.timestamp(3));
      case TIME -> Timestamps.ofTime(value, DataType.timestamp(3));
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> Timestamps.asMillis(value);
      default -> throw Arguments.wrongType(value);
    };
  }
}
