// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.function.temporal.DateTimePattern.Dialect;
import io.millrace.expression.function.temporal.JulianCalendar.CivilDate;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import java.io.Serializable;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** DATE_FORMAT, TO_DATE and TO_TIMESTAMP with patterns of java.time. */
@Internal
public final class DateTimeTextFunctions {

  private static final Serializable[] FORMATS = {
    "yyyy-MM-dd HH:mm:ss.SSS", "yyyyMMdd", "dd.MM.yy H:m", "EEE, d MMM uuuu", "HH 'o''clock'"
  };
  private static final Serializable[] READ_FORMATS = {
    "yyyy-MM-dd HH:mm:ss", "yyyyMMddHHmmssSSS", "dd.MM.yyyy", "yyyy/M/d"
  };
  private static final long FIRST_DAY = -719_162;
  private static final long LAST_DAY = 2_932_896;

  private DateTimeTextFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(dateFormat(), toDate(), toTimestamp());
  }

  private static FunctionDefinition dateFormat() {
    List<Signature> signatures = new ArrayList<>();
    for (DataType type : DateTimeFunctions.TIMESTAMPS) {
      signatures.add(
          Signature.of(Signature.any(type), Signature.literal(DataType.STRING, FORMATS)));
    }
    return FunctionDefinition.named("DATE_FORMAT")
        .family(FunctionFamily.TEMPORAL)
        .signatures(signatures)
        .description(
            "Formats a timestamp with a pattern of java.time, or a string 'yyyy-MM-dd"
                + " HH:mm:ss' with a pattern of java.text.")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 2, 2);
              Arguments.typed(arguments, 1, TypeId.STRING);
              TypedExpression value = arguments.get(0);
              if (value.type().id() == TypeId.STRING) {
                return EpochFunctions.convertTimeZone(
                    "DATE_FORMAT",
                    value,
                    SessionZone.of("UTC"),
                    SessionZone.of("UTC"),
                    Arguments.literalString(arguments, 1));
              }
              return dateFormat(value, arguments, context);
            });
  }

  private static TypedExpression dateFormat(
      TypedExpression value, List<TypedExpression> arguments, BindingContext context) {
    if (!value.type().isTimestamp()) {
      throw Arguments.wrongType(value);
    }
    TypedExpression nanos = Timestamps.asNanos(value);
    boolean withZone = value.type().withTimeZone();
    SessionZone zone = SessionZone.of(context.zone());
    ZoneOffsetTable table = withZone ? zone.instants() : ZoneOffsetTable.UTC;
    String zoneName = withZone ? zone.toString() : "UTC";
    if (!(arguments.get(1) instanceof TypedExpression.Literal)) {
      return BoundFunction.named("DATE_FORMAT")
          .parameters(zoneName)
          .failing()
          .host(formatsOfRows(table))
          .hostOnly("the pattern is not a literal")
          .scratch(ResultSizeLimit.NONE)
          .call(List.of(nanos, arguments.get(1)), DataType.STRING, true);
    }
    String pattern = Arguments.literalString(arguments, 1);
    DateTimeFormatter formatter =
        DateTimeFormats.formatter(pattern)
            .orElseThrow(
                () -> new ExpressionException("the pattern '" + pattern + "' is malformed"));
    Optional<DateTimePattern> plain = DateTimePattern.of(pattern, Dialect.JAVA_TIME);
    BoundFunction.Builder function =
        PatternBinding.named("DATE_FORMAT", pattern)
            .parameters(pattern, zoneName)
            .failing()
            .host(format(plain, formatter, table));
    PatternBinding.formatOnDevice(function, "format_timestamp", plain, table);
    return function.call(List.of(nanos), DataType.STRING, true);
  }

  private static HostFunction format(
      Optional<DateTimePattern> plain, DateTimeFormatter formatter, ZoneOffsetTable table) {
    return (operands, result, rows) -> {
      byte[] text = new byte[plain.map(DateTimePattern::maximumBytes).orElse(0)];
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        long instant = operands[0].longs()[row];
        long day = DateTimeArithmetic.localDay(instant, table);
        if (plain.isPresent() && day >= FIRST_DAY && day <= LAST_DAY) {
          CivilDate date = JulianCalendar.civilDateOfEpochDay(day);
          int millis = DateTimeArithmetic.localMillisOfDay(instant, table);
          int nanos = millis % 1_000 * 1_000_000 + (int) operands[0].secondParts()[row];
          TemporalCasts.setText(result, row, text, plain.get().write(text, date, millis, nanos));
        } else {
          format(formatter, table, operands[0], result, row, rows);
        }
      }
    };
  }

  private static HostFunction formatsOfRows(ZoneOffsetTable table) {
    return (operands, result, rows) -> {
      DateTimeFormats.Cache formatters = new DateTimeFormats.Cache();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        Optional<DateTimeFormatter> formatter = formatters.get(operands[1].getString(row));
        if (formatter.isPresent()) {
          format(formatter.get(), table, operands[0], result, row, rows);
        } else {
          rows.fail(row, Status.INVALID_ARGUMENT);
        }
      }
    };
  }

  private static void format(
      DateTimeFormatter formatter,
      ZoneOffsetTable table,
      HostVector values,
      HostVector result,
      int row,
      Rows rows) {
    long instant = values.longs()[row];
    LocalDateTime time =
        LocalDateTime.ofInstant(
            Instant.ofEpochMilli(instant).plusNanos(values.secondParts()[row]),
            ZoneOffset.ofTotalSeconds((int) (table.offset(instant) / 1_000)));
    try {
      result.setString(row, formatter.format(time));
    } catch (DateTimeException e) {
      rows.fail(row, Status.INVALID_ARGUMENT);
    }
  }

  private static FunctionDefinition toDate() {
    return FunctionDefinition.named("TO_DATE")
        .family(FunctionFamily.TEMPORAL)
        .signatures(
            Signature.of(DataType.STRING),
            Signature.of(
                Signature.any(DataType.STRING),
                Signature.literal(DataType.STRING, "yyyy-MM-dd", "yyyyMMdd", "d MMM yyyy")))
        .description(
            "Parses a date from a string year[-month[-day]], null if it is malformed, or"
                + " with a pattern of java.text.")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 2);
              TypedExpression text = Arguments.typed(arguments, 0, TypeId.STRING);
              return arguments.size() == 1
                  ? toDate(text)
                  : EpochFunctions.toDate(text, Arguments.literalString(arguments, 1));
            });
  }

  private static TypedExpression toDate(TypedExpression text) {
    return BoundFunction.named("TO_DATE")
        .failing()
        .host(
            HostFunction.ofFallibleRow(
                (operands, result, row, rows) -> {
                  long date = DateTimeText.parseDate(operands[0].getBytes(row));
                  if (date == DateTimeText.NO_DATE) {
                    result.setNull(row);
                  } else if (date == DateTimeText.TOO_LARGE) {
                    rows.fail(row, Status.INVALID_ARGUMENT);
                  } else {
                    result.longs()[row] = date;
                  }
                }))
        .device("to_date")
        .call(List.of(text), DataType.DATE, true);
  }

  private static FunctionDefinition toTimestamp() {
    return FunctionDefinition.named("TO_TIMESTAMP")
        .family(FunctionFamily.TEMPORAL)
        .signatures(
            Signature.of(DataType.STRING),
            Signature.of(
                Signature.any(DataType.STRING), Signature.literal(DataType.STRING, READ_FORMATS)))
        .description(
            "Parses a timestamp from a string 'yyyy-MM-dd[ HH:mm:ss[.fraction]]' or with a"
                + " pattern of java.time; null if it is malformed.")
        .differences(
            "Digits beyond milliseconds are dropped immediately, not when a row is stored.")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 2);
              Arguments.typed(arguments, 0, TypeId.STRING);
              return toTimestamp("TO_TIMESTAMP", arguments, DataType.timestamp(3), null);
            });
  }

  /**
   * Parses a timestamp in the default form or with the pattern in the second argument.
   *
   * @param zone time zone of the text; null for UTC
   */
  static TypedExpression toTimestamp(
      String name, List<TypedExpression> arguments, DataType to, SessionZone zone) {
    ZoneOffsetTable table = zone == null ? ZoneOffsetTable.UTC : zone.localTimes();
    TypedExpression text = arguments.get(0);
    if (arguments.size() == 1) {
      Status otherwise = to.withTimeZone() ? Status.INVALID_ARGUMENT : Status.NULL;
      return BoundFunction.named(name)
          .failing()
          .host(TimestampParser.plain(to.precision(), table, otherwise))
          .device(DeviceFunction.call("string_to_" + Timestamps.suffix(to), table.toBytes()))
          .sql(operands -> name + "(" + operands.get(0) + ")")
          .call(List.of(text, Timestamps.literal(to.precision())), to, true);
    }
    Arguments.typed(arguments, 1, TypeId.STRING);
    if (!(arguments.get(1) instanceof TypedExpression.Literal)) {
      return BoundFunction.named(name)
          .parameters(String.valueOf(zone))
          .nullable()
          .host(TimestampParser.ofPatterns(to.precision(), table))
          .hostOnly("the pattern is not a literal")
          .call(List.of(text, arguments.get(1)), to);
    }
    String pattern = Arguments.literalString(arguments, 1);
    BoundFunction.Builder function =
        PatternBinding.named(name, pattern)
            .parameters(pattern, to, String.valueOf(zone))
            .nullable()
            .host(TimestampParser.ofPattern(pattern, to.precision(), table));
    PatternBinding.parseOnDevice(
        function,
        "parse_to_" + Timestamps.suffix(to),
        DateTimePattern.of(pattern, Dialect.JAVA_TIME),
        table);
    return function.call(List.of(text), to);
  }
}
