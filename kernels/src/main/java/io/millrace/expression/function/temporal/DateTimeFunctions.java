// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.Stream;

/**
 * EXTRACT, FLOOR and CEIL of dates, times and timestamps, with the results of Flink's generated
 * code. For example, EXTRACT of a timestamp lets a day before 1970 begin at noon.
 */
@Internal
public final class DateTimeFunctions {
  /** Timestamps of each memory layout, with and without time zone. */
  static final List<DataType> TIMESTAMPS =
      List.of(
          DataType.timestamp(3),
          DataType.timestamp(6),
          DataType.timestamp(9),
          DataType.timestamp(3, true),
          DataType.timestamp(6, true),
          DataType.timestamp(9, true),
          DataType.timestamp(0));

  private static final List<DateTimeUnit> ALL_UNITS = List.of(DateTimeUnit.values());
  private static final List<DateTimeUnit> TIME_UNITS =
      List.copyOf(EnumSet.range(DateTimeUnit.HOUR, DateTimeUnit.MILLISECOND));
  private static final List<DateTimeUnit> DATE_FIELDS =
      ALL_UNITS.stream().filter(unit -> !unit.isFraction()).toList();
  private static final List<DateTimeUnit> ROUNDED_UNITS =
      List.copyOf(EnumSet.range(DateTimeUnit.MILLENNIUM, DateTimeUnit.MILLISECOND));

  private DateTimeFunctions() {}

  public static List<FunctionDefinition> definitions() {
    List<FunctionDefinition> definitions = new ArrayList<>();
    definitions.add(extract());
    definitions.add(field("YEAR", DateTimeUnit.YEAR, false));
    definitions.add(field("QUARTER", DateTimeUnit.QUARTER, false));
    definitions.add(field("MONTH", DateTimeUnit.MONTH, false));
    definitions.add(field("WEEK", DateTimeUnit.WEEK, false));
    definitions.add(field("DAYOFYEAR", DateTimeUnit.DAY_OF_YEAR, false));
    definitions.add(field("DAYOFMONTH", DateTimeUnit.DAY, false));
    definitions.add(field("DAYOFWEEK", DateTimeUnit.DAY_OF_WEEK, false));
    definitions.add(field("HOUR", DateTimeUnit.HOUR, true));
    definitions.add(field("MINUTE", DateTimeUnit.MINUTE, true));
    definitions.add(field("SECOND", DateTimeUnit.SECOND, true));
    definitions.add(rounding("FLOOR", "The start of the unit that contains the value."));
    definitions.add(
        rounding(
            "CEIL",
            "The start of the next unit, or the value itself if a unit starts there. As in"
                + " Flink, decades and longer units, and days of a DATE, always advance to the"
                + " next unit."));
    return definitions;
  }

  static Signature.Parameter unitLiteral(List<DateTimeUnit> units) {
    return Signature.literal(
        DataType.STRING, units.stream().map(DateTimeUnit::symbol).toArray(Serializable[]::new));
  }

  /** The SQL notation of a unit, from the text of its literal. */
  static String unquoted(String literal) {
    return literal.replace("'", "");
  }

  private static FunctionDefinition extract() {
    List<Signature> signatures = new ArrayList<>();
    signatures.add(Signature.of(unitLiteral(DATE_FIELDS), Signature.any(DataType.DATE)));
    signatures.add(Signature.of(unitLiteral(TIME_UNITS), Signature.any(DataType.TIME)));
    for (DataType type : TIMESTAMPS) {
      signatures.add(Signature.of(unitLiteral(ALL_UNITS), Signature.any(type)));
    }
    return FunctionDefinition.named("EXTRACT")
        .family(FunctionFamily.TEMPORAL)
        .signatures(signatures)
        .description("A field of a date, time or timestamp in the session time zone.")
        .sql(a -> "EXTRACT(" + unquoted(a.get(0)) + " FROM " + a.get(1) + ")")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 2, 2);
              String symbol = Arguments.literalString(arguments, 0);
              return extract(symbol, arguments.get(1), context);
            });
  }

  private static FunctionDefinition field(String name, DateTimeUnit unit, boolean ofTime) {
    return FunctionDefinition.named(name)
        .family(FunctionFamily.TEMPORAL)
        .signatures(
            Stream.concat(Stream.of(ofTime ? DataType.TIME : DataType.DATE), TIMESTAMPS.stream())
                .map(Signature::of)
                .toList())
        .description("EXTRACT(" + unit.symbol() + " FROM value).")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 1);
              return extract(unit.symbol(), arguments.get(0), context);
            });
  }

  private static TypedExpression extract(
      String symbol, TypedExpression argument, BindingContext context) {
    DataType type = argument.type();
    if (type.id() == TypeId.DATE || type.id() == TypeId.TIME) {
      DateTimeUnit unit =
          DateTimeUnit.of(symbol, type.id() == TypeId.DATE ? DATE_FIELDS : TIME_UNITS);
      return field(unit)
          .host(HostFunction.ofLong(value -> DateTimeArithmetic.extractFromDate(unit, (int) value)))
          .device("extract_from_date")
          .call(List.of(argument, Timestamps.literal(unit.code())), DataType.INT64);
    }
    if (!type.isTimestamp()) {
      throw Arguments.wrongType(argument);
    }
    TypedExpression local =
        type.withTimeZone()
            ? Timestamps.toLegacyLocalTime(argument, SessionZone.of(context.zone()))
            : argument;
    return extract(DateTimeUnit.of(symbol, ALL_UNITS), local);
  }

  private static TypedExpression extract(DateTimeUnit unit, TypedExpression local) {
    if (unit.isFraction()) {
      return field(unit)
          .host(
              HostFunction.ofRow(
                  (operands, result, row) ->
                      result.longs()[row] =
                          DateTimeArithmetic.extractFraction(
                              unit, operands[0].longs()[row], operands[0].secondParts()[row])))
          .device("extract_fraction")
          .call(
              List.of(Timestamps.asNanos(local), Timestamps.literal(unit.code())), DataType.INT64);
    }
    return field(unit)
        .host(HostFunction.ofLong(millis -> DateTimeArithmetic.extract(unit, millis)))
        .device("extract_from_timestamp")
        .call(List.of(Timestamps.asMillis(local), Timestamps.literal(unit.code())), DataType.INT64);
  }

  private static BoundFunction.Builder field(DateTimeUnit unit) {
    return BoundFunction.named("EXTRACT")
        .parameters(unit)
        .sql(operands -> "EXTRACT(" + unit.symbol() + " FROM " + operands.get(0) + ")");
  }

  private static FunctionDefinition rounding(String name, String description) {
    List<Signature> signatures = new ArrayList<>();
    signatures.add(Signature.of(Signature.any(DataType.DATE), unitLiteral(ROUNDED_UNITS)));
    signatures.add(Signature.of(Signature.any(DataType.TIME), unitLiteral(TIME_UNITS)));
    for (DataType type : TIMESTAMPS) {
      signatures.add(Signature.of(Signature.any(type), unitLiteral(ROUNDED_UNITS)));
    }
    return FunctionDefinition.named(name + " TO")
        .family(FunctionFamily.TEMPORAL)
        .signatures(signatures)
        .description(description)
        .sql(a -> name + "(" + a.get(0) + " TO " + unquoted(a.get(1)) + ")")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 2, 2);
              String symbol = Arguments.literalString(arguments, 1);
              return round(
                  name.equals("FLOOR"), arguments.get(0), symbol, SessionZone.of(context.zone()));
            });
  }

  private static TypedExpression round(
      boolean floor, TypedExpression argument, String symbol, SessionZone zone) {
    DataType type = argument.type();
    if (type.id() == TypeId.DATE) {
      DateTimeUnit unit = DateTimeUnit.of(symbol, ROUNDED_UNITS);
      return unit.isOfDay() ? argument : roundDate(floor, unit, argument);
    } else if (type.id() == TypeId.TIME) {
      return roundTime(floor, DateTimeUnit.of(symbol, TIME_UNITS), argument);
    } else if (!type.isTimestamp()) {
      throw Arguments.wrongType(argument);
    }
    DateTimeUnit unit = DateTimeUnit.of(symbol, ROUNDED_UNITS);
    if (type.withTimeZone()) {
      return roundInstant(floor, unit, argument, zone);
    }
    return !floor && unit == DateTimeUnit.MILLISECOND && type.id() != TypeId.TIMESTAMP_MILLIS
        ? ceilToMillisecond(argument)
        : roundTimestamp(floor, unit, argument);
  }

  private static BoundFunction.Builder rounding(boolean floor, DateTimeUnit unit) {
    String name = floor ? "FLOOR" : "CEIL";
    return BoundFunction.named(name + " TO")
        .parameters(unit)
        .sql(operands -> name + "(" + operands.get(0) + " TO " + unit.symbol() + ")");
  }

  private static TypedExpression roundDate(boolean floor, DateTimeUnit unit, TypedExpression date) {
    return rounding(floor, unit)
        .host(
            HostFunction.ofLong(
                floor
                    ? day -> DateTimeArithmetic.floorDate(unit, (int) day)
                    : day -> DateTimeArithmetic.ceilDate(unit, (int) day)))
        .device(floor ? "floor_date_to" : "ceil_date_to")
        .call(List.of(date, Timestamps.literal(unit.code())), DataType.DATE);
  }

  private static TypedExpression roundTime(boolean floor, DateTimeUnit unit, TypedExpression time) {
    return rounding(floor, unit)
        .host(
            HostFunction.ofLong(
                floor
                    ? millis -> DateTimeArithmetic.floorTime(unit, (int) millis)
                    : millis -> DateTimeArithmetic.ceilTime(unit, (int) millis)))
        .device(floor ? "floor_time_to" : "ceil_time_to")
        .call(List.of(time, Timestamps.literal(unit.code())), DataType.TIME);
  }

  private static TypedExpression roundTimestamp(
      boolean floor, DateTimeUnit unit, TypedExpression timestamp) {
    TypedExpression millis = Timestamps.asMillis(timestamp);
    TypedExpression rounded =
        rounding(floor, unit)
            .host(
                HostFunction.ofLong(
                    floor
                        ? value -> DateTimeArithmetic.floor(unit, value)
                        : value -> DateTimeArithmetic.ceil(unit, value)))
            .device(floor ? "floor_timestamp_to" : "ceil_timestamp_to")
            .call(List.of(millis, Timestamps.literal(unit.code())), millis.type());
    return Timestamps.as(rounded, timestamp.type());
  }

  private static TypedExpression ceilToMillisecond(TypedExpression timestamp) {
    TypedExpression rounded =
        rounding(false, DateTimeUnit.MILLISECOND)
            .host(
                HostFunction.ofRow(
                    (operands, result, row) ->
                        result.longs()[row] =
                            operands[0].longs()[row]
                                + (operands[0].secondParts()[row] > 0 ? 1 : 0)))
            .device("ceil_nanos")
            .call(List.of(Timestamps.asNanos(timestamp)), DataType.timestamp(3));
    return Timestamps.as(rounded, timestamp.type());
  }

  private static TypedExpression roundInstant(
      boolean floor, DateTimeUnit unit, TypedExpression instant, SessionZone zone) {
    TypedExpression millis = Timestamps.asMillis(instant);
    ZoneOffsetTable table = zone.legacyInstants();
    TypedExpression rounded =
        rounding(floor, unit)
            .parameters(unit, zone.toString())
            .host(
                HostFunction.ofLong(
                    floor
                        ? value -> DateTimeArithmetic.floor(unit, value, table)
                        : value -> DateTimeArithmetic.ceil(unit, value, table)))
            .device(
                DeviceFunction.call(
                    floor ? "floor_instant_to" : "ceil_instant_to", table.toBytes()))
            .call(List.of(millis, Timestamps.literal(unit.code())), millis.type());
    return Timestamps.as(rounded, instant.type());
  }
}
