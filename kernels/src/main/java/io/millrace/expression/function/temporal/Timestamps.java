// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import java.util.List;
import java.util.function.LongUnaryOperator;

/** Timestamps of all precisions: host values and conversion calls. */
final class Timestamps {
  /** A precision that truncates nothing. */
  private static final int EXACT = 9;

  private Timestamps() {}

  static TypedExpression.Literal literal(int value) {
    return new TypedExpression.Literal((long) value, DataType.INT32);
  }

  static TypedExpression.Literal literal(long value) {
    return new TypedExpression.Literal(value, DataType.INT64);
  }

  static long millis(HostVector vector, int row) {
    long value = vector.longs()[row];
    return vector.type().id() == TypeId.TIMESTAMP_MICROS
        ? DateTimeArithmetic.millisOfMicros(value)
        : value;
  }

  static int nanos(HostVector vector, int row) {
    return switch (vector.type().id()) {
      case TIMESTAMP_MICROS -> DateTimeArithmetic.nanosOfMicros(vector.longs()[row]);
      case TIMESTAMP_NANOS -> (int) vector.secondParts()[row];
      default -> 0;
    };
  }

  /** Stores a result; the row fails if its microseconds overflow 64 bits. */
  static void set(HostVector result, int row, long millis, int nanos, Rows rows) {
    switch (result.type().id()) {
      case TIMESTAMP_MICROS -> {
        if (DateTimeArithmetic.fitsMicros(millis, nanos)) {
          result.longs()[row] = DateTimeArithmetic.micros(millis, nanos);
        } else {
          rows.fail(row, Status.INVALID_ARGUMENT);
        }
      }
      case TIMESTAMP_NANOS -> {
        result.longs()[row] = millis;
        result.secondParts()[row] = nanos;
      }
      default -> result.longs()[row] = millis;
    }
  }

  /** The suffix of device function names for a type. */
  static String suffix(DataType type) {
    return switch (type.id()) {
      case TIMESTAMP_MICROS -> "micros";
      case TIMESTAMP_NANOS -> "nanos";
      default -> "millis";
    };
  }

  private static String castSql(String operand, DataType to) {
    return "CAST(" + operand + " AS " + to + ")";
  }

  static BoundFunction.Builder cast(DataType from, DataType to) {
    return BoundFunction.named("CAST")
        .parameters(from, to)
        .sql(operands -> castSql(operands.get(0), to));
  }

  /** Converts a timestamp to milliseconds, with a precision of at most 3. */
  static TypedExpression asMillis(TypedExpression operand) {
    DataType type = operand.type();
    return type.id() == TypeId.TIMESTAMP_MILLIS
        ? operand
        : convert(operand, DataType.timestamp(3, type.withTimeZone()));
  }

  /** Converts a timestamp to nanoseconds. */
  static TypedExpression asNanos(TypedExpression operand) {
    DataType type = operand.type();
    return type.id() == TypeId.TIMESTAMP_NANOS
        ? operand
        : convert(operand, DataType.timestamp(9, type.withTimeZone()));
  }

  /** Converts a timestamp to the precision of {@code to} if it differs. */
  static TypedExpression as(TypedExpression operand, DataType to) {
    return operand.type().equals(to) ? operand : convert(operand, to);
  }

  /** Casts a timestamp to another precision. */
  static TypedExpression.Call convert(TypedExpression operand, DataType to) {
    DataType from = operand.type();
    int precision = from.precision() <= to.precision() ? EXACT : to.precision();
    String name = suffix(from) + "_to_" + suffix(to);
    boolean widens = suffix(from).compareTo(suffix(to)) != 0 && from.precision() < to.precision();
    BoundFunction.Builder function = cast(from, to).host(convert(precision)).device(name);
    if (to.id() == TypeId.TIMESTAMP_MICROS) {
      function.failing();
    }
    return function.call(
        widens ? List.of(operand) : List.of(operand, literal(precision)), to, operand.nullable());
  }

  private static HostFunction convert(int precision) {
    return (operands, result, rows) -> {
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        long millis = millis(operands[0], row);
        int nanos = nanos(operands[0], row);
        set(
            result,
            row,
            DateTimeArithmetic.truncateMillis(millis, nanos, precision),
            DateTimeArithmetic.truncateNanos(millis, nanos, precision),
            rows);
      }
    };
  }

  /** The local time of an instant, with the same precision, by the rules of java.time. */
  static TypedExpression.Call toLocalTime(TypedExpression operand, SessionZone zone) {
    return toLocalTime(operand, "LOCAL_TIME", zone.instants(), zone);
  }

  /**
   * The local time of an instant, with the same precision, by the rules of {@link
   * java.util.TimeZone}.
   */
  static TypedExpression.Call toLegacyLocalTime(TypedExpression operand, SessionZone zone) {
    return toLocalTime(operand, "LEGACY_LOCAL_TIME", zone.legacyInstants(), zone);
  }

  private static TypedExpression.Call toLocalTime(
      TypedExpression operand, String name, ZoneOffsetTable table, SessionZone zone) {
    return shift(
        operand,
        name,
        "local_time_of_",
        table,
        zone,
        millis -> DateTimeArithmetic.localTime(millis, table),
        micros -> micros + offsetInMicros(micros, table));
  }

  /** The instant of a local time, with the same precision. */
  static TypedExpression.Call toInstant(TypedExpression operand, SessionZone zone) {
    ZoneOffsetTable table = zone.localTimes();
    return shift(
        operand,
        "INSTANT",
        "instant_of_",
        table,
        zone,
        millis -> DateTimeArithmetic.instant(millis, table),
        micros -> micros - offsetInMicros(micros, table));
  }

  private static long offsetInMicros(long micros, ZoneOffsetTable table) {
    return table.offset(DateTimeArithmetic.millisOfMicros(micros)) * 1_000;
  }

  private static TypedExpression.Call shift(
      TypedExpression operand,
      String name,
      String device,
      ZoneOffsetTable table,
      SessionZone zone,
      LongUnaryOperator ofMillis,
      LongUnaryOperator ofMicros) {
    DataType type = operand.type();
    boolean isMicros = type.id() == TypeId.TIMESTAMP_MICROS;
    boolean isNanos = type.id() == TypeId.TIMESTAMP_NANOS;
    LongUnaryOperator function = isMicros ? ofMicros : ofMillis;
    return BoundFunction.named(name)
        .parameters(zone.toString())
        .host(
            (operands, result, rows) -> {
              for (int i = 0; i < rows.count(); i++) {
                int row = rows.position(i);
                result.longs()[row] = function.applyAsLong(operands[0].longs()[row]);
                if (isNanos) {
                  result.secondParts()[row] = operands[0].secondParts()[row];
                }
              }
            })
        .device(DeviceFunction.call(device + suffix(type), table.toBytes()))
        .sql(operands -> name + "(" + operands.get(0) + ", '" + zone + "')")
        .call(List.of(operand), DataType.timestamp(type.precision(), !type.withTimeZone()));
  }

  /** Midnight of a date as a timestamp of milliseconds. */
  static TypedExpression.Call ofDate(TypedExpression date, DataType to) {
    return cast(date.type(), to)
        .host(HostFunction.ofLong(day -> day * DateTimeArithmetic.MILLIS_PER_DAY))
        .device("date_to_timestamp")
        .call(List.of(date), to);
  }

  /** A time on 1970-01-01 as a timestamp of milliseconds. */
  static TypedExpression.Call ofTime(TypedExpression time, DataType to) {
    return cast(time.type(), to)
        .host(HostFunction.ofLong(millis -> millis))
        .device("time_to_timestamp")
        .call(List.of(time), to);
  }
}
