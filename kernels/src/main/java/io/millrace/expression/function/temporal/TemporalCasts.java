// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.device.HostMemory;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.CastRule;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import io.millrace.expression.vector.ValueKind;
import java.util.List;

/**
 * Casts between dates, times, timestamps and strings. A timestamp with time zone is an instant; its
 * local time is in the session time zone.
 *
 * <p>As in Flink, a cast to DATE or to fewer digits truncates towards 1970, and a cast of a
 * timestamp before 1970 to TIME is negative.
 */
@Internal
public final class TemporalCasts implements CastRule {
  private static final DataType MILLIS = DataType.timestamp(3);
  private static final DataType MILLIS_WITH_ZONE = DataType.timestamp(3, true);
  private static final int TIMESTAMP_BYTES = 29;

  @Override
  public boolean supports(DataType from, DataType to) {
    if (from.isTimestamp()) {
      return ValueKind.isTemporal(to) || to.id() == TypeId.STRING;
    }
    if (from.id() == TypeId.DATE || from.id() == TypeId.TIME) {
      return to.isTimestamp() || to.id() == TypeId.STRING;
    }
    return from.id() == TypeId.STRING && ValueKind.isTemporal(to);
  }

  @Override
  public TypedExpression.Call bind(TypedExpression operand, DataType to, BindingContext context) {
    SessionZone zone = SessionZone.of(context.zone());
    if (operand.type().id() == TypeId.STRING) {
      return ofString(operand, to, zone);
    }
    return switch (to.id()) {
      case STRING -> toText(operand, zone);
      case DATE -> toDate(operand, zone);
      case TIME -> toTime(operand, zone);
      default -> toTimestamp(operand, to, zone);
    };
  }

  private static TypedExpression.Call toTimestamp(
      TypedExpression operand, DataType to, SessionZone zone) {
    TypedExpression.Call result =
        switch (operand.type().id()) {
          case DATE -> ofDate(operand, to, zone);
          case TIME -> ofTime(operand, to, zone);
          default ->
              operand.type().withTimeZone() == to.withTimeZone()
                  ? Timestamps.convert(operand, to)
                  : withOtherZone(operand, zone);
        };
    return result.type().equals(to) ? result : Timestamps.convert(result, to);
  }

  private static TypedExpression.Call withOtherZone(TypedExpression operand, SessionZone zone) {
    return operand.type().withTimeZone()
        ? Timestamps.toLocalTime(operand, zone)
        : Timestamps.toInstant(operand, zone);
  }

  private static TypedExpression.Call ofDate(
      TypedExpression operand, DataType to, SessionZone zone) {
    boolean isMillis = to.id() == TypeId.TIMESTAMP_MILLIS;
    if (!to.withTimeZone()) {
      return Timestamps.ofDate(operand, isMillis ? to : MILLIS);
    }
    ZoneOffsetTable table = zone.localTimes();
    return Timestamps.cast(operand.type(), to)
        .parameters(operand.type(), zone.toString())
        .failing()
        .host(
            HostFunction.ofFallibleRow(
                (operands, result, row, rows) -> {
                  dateToInstant((int) operands[0].longs()[row], table, result, row, rows);
                }))
        .device(DeviceFunction.call("date_to_instant", table.toBytes()))
        .call(List.of(operand), isMillis ? to : MILLIS_WITH_ZONE);
  }

  private static void dateToInstant(
      int date, ZoneOffsetTable table, HostVector result, int row, Rows rows) {
    JulianCalendar.CivilDate civil = JulianCalendar.civilDate(date + JulianCalendar.EPOCH_JULIAN);
    if (civil.isValid()) {
      long local = JulianCalendar.epochDayOfCivilDate(civil) * DateTimeArithmetic.MILLIS_PER_DAY;
      result.longs()[row] = local - table.offset(local);
    } else {
      rows.fail(row, Status.INVALID_ARGUMENT);
    }
  }

  private static TypedExpression.Call ofTime(
      TypedExpression operand, DataType to, SessionZone zone) {
    DataType local =
        to.id() == TypeId.TIMESTAMP_MILLIS ? DataType.timestamp(to.precision()) : MILLIS;
    TypedExpression.Call time = Timestamps.ofTime(operand, local);
    return to.withTimeZone() ? Timestamps.toInstant(time, zone) : time;
  }

  private static TypedExpression.Call toDate(TypedExpression operand, SessionZone zone) {
    TypedExpression millis = Timestamps.asMillis(operand);
    BoundFunction.Builder function = Timestamps.cast(millis.type(), DataType.DATE);
    if (!millis.type().withTimeZone()) {
      return function
          .host(HostFunction.ofLong(value -> (int) (value / DateTimeArithmetic.MILLIS_PER_DAY)))
          .device("timestamp_to_date")
          .call(List.of(millis), DataType.DATE);
    }
    ZoneOffsetTable table = zone.instants();
    return function
        .parameters(millis.type(), DataType.DATE, zone.toString())
        .host(HostFunction.ofLong(value -> DateTimeArithmetic.instantToDate(value, table)))
        .device(DeviceFunction.call("instant_to_date", table.toBytes()))
        .call(List.of(millis), DataType.DATE);
  }

  private static TypedExpression.Call toTime(TypedExpression operand, SessionZone zone) {
    TypedExpression millis = Timestamps.asMillis(operand);
    BoundFunction.Builder function = Timestamps.cast(millis.type(), DataType.TIME);
    if (!millis.type().withTimeZone()) {
      return function
          .host(HostFunction.ofLong(value -> (int) (value % DateTimeArithmetic.MILLIS_PER_DAY)))
          .device("timestamp_to_time")
          .call(List.of(millis), DataType.TIME);
    }
    ZoneOffsetTable table = zone.instants();
    return function
        .parameters(millis.type(), DataType.TIME, zone.toString())
        .host(HostFunction.ofLong(value -> DateTimeArithmetic.localMillisOfDay(value, table)))
        .device(DeviceFunction.call("instant_to_time", table.toBytes()))
        .call(List.of(millis), DataType.TIME);
  }

  /** Writes a row as text. */
  @FunctionalInterface
  interface TextWriter {
    /** Returns the number of bytes written. */
    int write(byte[] to, HostVector operand, int row);
  }

  static HostFunction writing(int maximumBytes, TextWriter writer) {
    return (operands, result, rows) -> {
      byte[] text = new byte[maximumBytes];
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        setText(result, row, text, writer.write(text, operands[0], row));
      }
    };
  }

  static void setText(HostVector result, int row, byte[] text, int length) {
    long address = result.allocate(length);
    HostMemory.copyFromArray(address, text, 0, length);
    result.setBytes(row, address, length);
  }

  private static TypedExpression.Call toText(TypedExpression operand, SessionZone zone) {
    DataType type = operand.type();
    if (type.withTimeZone()) {
      return toText(Timestamps.toLocalTime(operand, zone), zone);
    }
    BoundFunction.Builder function =
        Timestamps.cast(type, DataType.STRING).scratch(ResultSizeLimit.constant(TIMESTAMP_BYTES));
    return switch (type.id()) {
      case DATE ->
          function
              .host(
                  writing(
                      TIMESTAMP_BYTES,
                      (to, dates, row) -> DateTimeText.writeDate(to, (int) dates.longs()[row])))
              .device("date_to_string")
              .call(List.of(operand), DataType.STRING);
      case TIME -> timeToText(function, operand);
      default -> timestampToText(function, operand, type.precision());
    };
  }

  private static TypedExpression.Call timeToText(
      BoundFunction.Builder function, TypedExpression operand) {
    int precision = TimePrecision.of(operand);
    return function
        .parameters(operand.type(), DataType.STRING, precision)
        .host(
            writing(
                TIMESTAMP_BYTES,
                (to, times, row) ->
                    DateTimeText.writeTime(to, (int) times.longs()[row], precision)))
        .device("time_to_string")
        .call(List.of(operand, Timestamps.literal(precision)), DataType.STRING);
  }

  private static TypedExpression.Call timestampToText(
      BoundFunction.Builder function, TypedExpression operand, int precision) {
    return function
        .host(
            writing(
                TIMESTAMP_BYTES,
                (to, times, row) ->
                    DateTimeText.writeTimestamp(
                        to,
                        Timestamps.millis(times, row),
                        Timestamps.nanos(times, row),
                        precision)))
        .device("timestamp_to_string")
        .call(List.of(Timestamps.asNanos(operand), Timestamps.literal(precision)), DataType.STRING);
  }

  private static TypedExpression.Call ofString(
      TypedExpression operand, DataType to, SessionZone zone) {
    BoundFunction.Builder function = Timestamps.cast(DataType.STRING, to).failing();
    return switch (to.id()) {
      case DATE ->
          function
              .host(parsing(DateTimeText::parseDate, DateTimeText.NO_DATE, DateTimeText.TOO_LARGE))
              .device("string_to_date")
              .call(List.of(operand), to, operand.nullable());
      case TIME ->
          function
              .host(parsing(DateTimeText::parseTime, DateTimeText.NO_TIME, DateTimeText.NO_TIME))
              .device("string_to_time")
              .call(List.of(operand), to, operand.nullable());
      default -> stringToTimestamp(operand, to, zone);
    };
  }

  @FunctionalInterface
  private interface TextParser {
    long parse(byte[] text);
  }

  private static HostFunction parsing(TextParser parser, long none, long tooLarge) {
    return HostFunction.ofFallibleRow(
        (operands, result, row, rows) -> {
          long value = parser.parse(operands[0].getBytes(row));
          if (value == none || value == tooLarge) {
            rows.fail(row, Status.INVALID_CAST);
          } else {
            result.longs()[row] = value;
          }
        });
  }

  private static TypedExpression.Call stringToTimestamp(
      TypedExpression operand, DataType to, SessionZone zone) {
    ZoneOffsetTable table = to.withTimeZone() ? zone.localTimes() : ZoneOffsetTable.UTC;
    return Timestamps.cast(DataType.STRING, to)
        .parameters(to, to.withTimeZone() ? zone.toString() : "")
        .failing()
        .host(TimestampParser.plain(to.precision(), table, Status.INVALID_CAST))
        .device(DeviceFunction.call("string_to_" + Timestamps.suffix(to), table.toBytes()))
        .call(List.of(operand, Timestamps.literal(to.precision())), to, operand.nullable());
  }
}
