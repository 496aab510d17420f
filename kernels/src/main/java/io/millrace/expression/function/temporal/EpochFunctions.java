// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.function.temporal.DateTimePattern.Dialect;
import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.resolve.Arguments;
import io.millrace.expression.resolve.BindingContext;
import io.millrace.expression.resolve.Coercion;
import io.millrace.expression.resolve.FunctionDefinition;
import io.millrace.expression.resolve.FunctionFamily;
import io.millrace.expression.resolve.Signature;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Functions of epoch seconds and of texts with {@link SimpleDateFormat} patterns, and
 * TO_TIMESTAMP_LTZ.
 */
@Internal
public final class EpochFunctions {
  private static final long MILLIS_PER_SECOND = 1_000;
  private static final long FIRST_SECOND = -62_167_219_200L;
  private static final long LAST_SECOND = 253_402_300_799L;
  private static final int MAX_PRECISION = 9;
  private static final int MILLIS_PRECISION = 3;

  private EpochFunctions() {}

  public static List<FunctionDefinition> definitions() {
    return List.of(fromUnixTime(), unixTimestamp(), convertTz(), toTimestampLtz());
  }

  /**
   * Compiles a pattern.
   *
   * @throws ExpressionException if it is malformed
   */
  private static Optional<DateTimePattern> legacyPattern(String pattern, SessionZone zone) {
    try {
      DateTimeFormats.legacy(pattern, zone);
    } catch (IllegalArgumentException e) {
      throw new ExpressionException("the pattern '" + pattern + "' is malformed");
    }
    return DateTimeFormats.isLegacyPlain()
        ? DateTimePattern.of(pattern, Dialect.LEGACY)
        : Optional.empty();
  }

  private static FunctionDefinition fromUnixTime() {
    return FunctionDefinition.named("FROM_UNIXTIME")
        .family(FunctionFamily.TEMPORAL)
        .signatures(
            Signature.of(DataType.INT64),
            Signature.of(DataType.INT32),
            Signature.of(
                Signature.any(DataType.INT64),
                Signature.literal(DataType.STRING, "yyyy-MM-dd HH:mm", "yyyyMMdd", "EEE d MMM")))
        .description("Formats epoch seconds in the session time zone with a pattern of java.text.")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 2);
              if (!arguments.get(0).type().isInteger()) {
                throw Arguments.wrongType(arguments.get(0));
              }
              String pattern =
                  arguments.size() == 1
                      ? DateTimeFormats.SECONDS_PATTERN
                      : Arguments.literalString(arguments, 1);
              return fromUnixTime(
                  Coercion.cast(arguments.get(0), DataType.INT64, context),
                  pattern,
                  SessionZone.of(context.zone()));
            });
  }

  private static TypedExpression fromUnixTime(
      TypedExpression seconds, String pattern, SessionZone zone) {
    Optional<DateTimePattern> plain = legacyPattern(pattern, zone);
    BoundFunction.Builder function =
        PatternBinding.named("FROM_UNIXTIME", pattern)
            .parameters(pattern, zone.toString())
            .nullable()
            .host(
                (operands, result, rows) -> {
                  SimpleDateFormat format = DateTimeFormats.legacy(pattern, zone);
                  for (int i = 0; i < rows.count(); i++) {
                    int row = rows.position(i);
                    long millis = operands[0].longs()[row] * MILLIS_PER_SECOND;
                    result.setString(row, format.format(millis));
                  }
                });
    PatternBinding.formatOnDevice(function, "format_unix_time", plain, zone.legacyInstants());
    return function.call(List.of(seconds), DataType.STRING);
  }

  /** Stores a row's result for the instant at the beginning of its text. */
  @FunctionalInterface
  private interface InstantFunction {
    void evaluate(OptionalLong millis, HostVector result, int row);
  }

  private static HostFunction reading(String pattern, SessionZone zone, InstantFunction function) {
    return (operands, result, rows) -> {
      SimpleDateFormat format = DateTimeFormats.legacy(pattern, zone);
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        function.evaluate(DateTimeFormats.parse(format, operands[0].getString(row)), result, row);
      }
    };
  }

  private static FunctionDefinition unixTimestamp() {
    return FunctionDefinition.named("UNIX_TIMESTAMP")
        .family(FunctionFamily.TEMPORAL)
        .signatures(
            Signature.none(),
            Signature.of(DataType.STRING),
            Signature.of(
                Signature.any(DataType.STRING),
                Signature.literal(DataType.STRING, "yyyy-MM-dd HH:mm", "yyyyMMdd", "d MMM yyyy")))
        .description(
            "The epoch seconds of a string in the session time zone, 'yyyy-MM-dd HH:mm:ss'"
                + " or in a pattern of java.text; the least BIGINT if the string is malformed."
                + " Without arguments, those of the current time: one value for all rows of a"
                + " batch.")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 0, 2);
              if (arguments.isEmpty()) {
                return CurrentTimeFunctions.unixTimestamp(context);
              }
              TypedExpression text = Arguments.typed(arguments, 0, TypeId.STRING);
              String pattern =
                  arguments.size() == 1
                      ? DateTimeFormats.SECONDS_PATTERN
                      : Arguments.literalString(arguments, 1);
              return unixTimestamp(text, pattern, SessionZone.of(context.zone()));
            });
  }

  private static TypedExpression unixTimestamp(
      TypedExpression text, String pattern, SessionZone zone) {
    BoundFunction.Builder function =
        PatternBinding.named("UNIX_TIMESTAMP", pattern)
            .parameters(pattern, zone.toString())
            .failing()
            .host(
                reading(
                    pattern,
                    zone,
                    (millis, result, row) ->
                        result.longs()[row] =
                            millis.isPresent()
                                ? millis.getAsLong() / MILLIS_PER_SECOND
                                : Long.MIN_VALUE));
    PatternBinding.parseOnDevice(
        function,
        "parse_legacy_to_unix_time",
        legacyPattern(pattern, zone),
        zone.legacyLocalTimes());
    return function.call(List.of(text), DataType.INT64, text.nullable());
  }

  /**
   * TO_DATE with a pattern. A malformed text gives the date that Flink derives from its least
   * timestamp.
   */
  static TypedExpression toDate(TypedExpression text, String pattern) {
    SessionZone utc = SessionZone.of("UTC");
    BoundFunction.Builder function =
        PatternBinding.named("TO_DATE", pattern)
            .parameters(pattern)
            .nullable()
            .host(
                reading(
                    pattern,
                    utc,
                    (millis, result, row) ->
                        result.longs()[row] =
                            DateTimeArithmetic.instantToDate(
                                millis.orElse(Long.MIN_VALUE), ZoneOffsetTable.UTC)));
    PatternBinding.parseOnDevice(
        function, "parse_legacy_to_date", legacyPattern(pattern, utc), ZoneOffsetTable.UTC);
    return function.call(List.of(text), DataType.DATE);
  }

  private static FunctionDefinition convertTz() {
    return FunctionDefinition.named("CONVERT_TZ")
        .family(FunctionFamily.TEMPORAL)
        .signatures(
            Signature.of(
                Signature.any(DataType.STRING),
                Signature.literal(DataType.STRING, "UTC", "America/Los_Angeles"),
                Signature.literal(DataType.STRING, "Europe/Berlin", "Asia/Kolkata", "GMT+01:00")))
        .description(
            "Converts a string 'yyyy-MM-dd HH:mm:ss' from one time zone to another; null"
                + " if it is malformed. An unknown time zone means UTC.")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 3, 3);
              return convertTimeZone(
                  "CONVERT_TZ",
                  Arguments.typed(arguments, 0, TypeId.STRING),
                  SessionZone.of(Arguments.literalString(arguments, 1)),
                  SessionZone.of(Arguments.literalString(arguments, 2)),
                  DateTimeFormats.SECONDS_PATTERN);
            });
  }

  /** Converts a text {@code yyyy-MM-dd HH:mm:ss} to another time zone and pattern. */
  static TypedExpression convertTimeZone(
      String name, TypedExpression text, SessionZone from, SessionZone to, String pattern) {
    String read = DateTimeFormats.SECONDS_PATTERN;
    BoundFunction.Builder function =
        BoundFunction.named(name)
            .parameters(pattern, from.toString(), to.toString())
            .nullable()
            .host(
                (operands, result, rows) -> {
                  SimpleDateFormat reader = DateTimeFormats.legacy(read, from);
                  SimpleDateFormat writer = DateTimeFormats.legacy(pattern, to);
                  convert(reader, writer, operands[0], result, rows);
                });
    Optional<DateTimePattern> reader = legacyPattern(read, from);
    Optional<DateTimePattern> writer = legacyPattern(pattern, to);
    if (reader.isPresent() && writer.isPresent()) {
      function
          .scratch(ResultSizeLimit.constant(writer.get().maximumBytes()))
          .device(
              DeviceFunction.call(
                  "convert_time_zone",
                  DateTimePattern.join(
                      reader.get().toBytes(from.legacyLocalTimes()),
                      writer.get().toBytes(to.legacyInstants()))));
    } else {
      function.hostOnly(PatternBinding.HOST_PATTERN);
    }
    return function.call(List.of(text), DataType.STRING);
  }

  private static void convert(
      SimpleDateFormat reader,
      SimpleDateFormat writer,
      HostVector texts,
      HostVector result,
      Rows rows) {
    for (int i = 0; i < rows.count(); i++) {
      int row = rows.position(i);
      OptionalLong millis = DateTimeFormats.parse(reader, texts.getString(row));
      if (millis.isPresent()) {
        result.setString(row, writer.format(millis.getAsLong()));
      } else {
        result.setNull(row);
      }
    }
  }

  private static FunctionDefinition toTimestampLtz() {
    List<Signature> signatures = new ArrayList<>();
    for (DataType type : List.of(DataType.INT64, DataType.INT32, DataType.FLOAT64)) {
      signatures.add(Signature.of(type));
      signatures.add(
          Signature.of(Signature.any(type), Signature.literal(DataType.INT32, 0L, 3L, 6L, 9L)));
    }
    signatures.add(
        Signature.of(
            Signature.any(DataType.STRING),
            Signature.literal(
                DataType.STRING, "yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd HH:mm:ss.SSSSSS")));
    return FunctionDefinition.named("TO_TIMESTAMP_LTZ")
        .family(FunctionFamily.TEMPORAL)
        .signatures(signatures)
        .description(
            "The instant of a number of units since 1970, with 10^precision units per"
                + " second (default precision 3), null outside the years 0 to 9999; or of a"
                + " string in UTC or in the time zone of the third argument.")
        .differences(
            "Digits beyond the precision of the type are dropped immediately, not when a"
                + " row is stored.")
        .bind(
            (arguments, context) -> {
              Arguments.count(arguments, 1, 3);
              return arguments.get(0).type().id() == TypeId.STRING
                  ? ofText(arguments)
                  : ofNumber(arguments, context);
            });
  }

  private static TypedExpression ofText(List<TypedExpression> arguments) {
    int digits = MILLIS_PRECISION;
    if (arguments.size() > 1 && Arguments.literal(arguments, 1).isPresent()) {
      String pattern = Arguments.literalString(arguments, 1);
      int trailing = pattern.length() - pattern.replaceFirst("S+$", "").length();
      digits = Math.max(MILLIS_PRECISION, Math.min(trailing, MAX_PRECISION));
    }
    DataType to = DataType.timestamp(digits, true);
    if (arguments.stream().skip(1).anyMatch(Arguments::isNullLiteral)) {
      return Arguments.nullOf(to);
    }
    SessionZone zone =
        arguments.size() == 3 ? SessionZone.of(Arguments.literalString(arguments, 2)) : null;
    return DateTimeTextFunctions.toTimestamp(
        "TO_TIMESTAMP_LTZ", arguments.subList(0, Math.min(2, arguments.size())), to, zone);
  }

  private static TypedExpression ofNumber(List<TypedExpression> arguments, BindingContext context) {
    Arguments.count(arguments, 1, 2);
    TypedExpression number = arguments.get(0);
    if (!number.type().isNumeric()) {
      throw Arguments.wrongType(number);
    }
    if (arguments.size() == 2 && Arguments.isNullLiteral(arguments.get(1))) {
      return Arguments.nullOf(DataType.timestamp(MILLIS_PRECISION, true));
    }
    long precision =
        arguments.size() == 1 ? MILLIS_PRECISION : Arguments.literalInteger(arguments, 1);
    if (precision < 0 || precision > MAX_PRECISION) {
      throw new ExpressionException("expected a precision of 0 to 9, got " + precision);
    }
    int digits = (int) precision;
    boolean isFloating = number.type().isFloatingPoint();
    DataType to = DataType.timestamp(Math.max(MILLIS_PRECISION, digits), true);
    TypedExpression operand =
        Coercion.cast(number, isFloating ? DataType.FLOAT64 : DataType.INT64, context);
    return BoundFunction.named("TO_TIMESTAMP_LTZ")
        .parameters(digits)
        .failing()
        .host(isFloating ? ofDouble(digits) : ofLong(digits))
        .device((isFloating ? "double_epoch_to_" : "epoch_to_") + Timestamps.suffix(to))
        .call(List.of(operand, Timestamps.literal(digits)), to, true);
  }

  private static HostFunction ofLong(int precision) {
    return (operands, result, rows) -> {
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        setEpoch(operands[0].longs()[row], precision, result, row, rows);
      }
    };
  }

  private static HostFunction ofDouble(int precision) {
    double factor = DateTimeArithmetic.powerOfTen(precision);
    double nanosFactor = DateTimeArithmetic.powerOfTen(9 - precision);
    return (operands, result, rows) -> {
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        double number = operands[0].doubles()[row];
        double second = number / factor;
        if (second < FIRST_SECOND || second > LAST_SECOND) {
          result.setNull(row);
        } else {
          setEpoch((long) (number * nanosFactor), MAX_PRECISION, result, row, rows);
        }
      }
    };
  }

  private static void setEpoch(long number, int precision, HostVector result, int row, Rows rows) {
    long factor = DateTimeArithmetic.powerOfTen(precision);
    long second = Math.floorDiv(number, factor);
    if (second < FIRST_SECOND || second > LAST_SECOND) {
      result.setNull(row);
      return;
    }
    long nanos = Math.floorMod(number, factor) * DateTimeArithmetic.powerOfTen(9 - precision);
    Timestamps.set(
        result,
        row,
        second * MILLIS_PER_SECOND + nanos / 1_000_000,
        (int) (nanos % 1_000_000),
        rows);
  }
}
