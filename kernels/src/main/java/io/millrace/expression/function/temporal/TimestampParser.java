// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import io.millrace.expression.function.temporal.DateTimePattern.LocalTime;
import io.millrace.expression.vector.HostFunction;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.Rows;
import io.millrace.expression.vector.Status;
import java.nio.charset.StandardCharsets;
import java.sql.Date;
import java.sql.Timestamp;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalField;
import java.util.Optional;

/**
 * Parses timestamps as Flink does: fields that a {@link DateTimeFormatter} does not find default to
 * 1970-01-01T00:00.
 */
final class TimestampParser {
  private static final int NANOS_PER_MILLI = 1_000_000;

  private TimestampParser() {}

  /**
   * Parses {@code yyyy-MM-dd[ HH:mm:ss[.fraction]]} and everything else that {@link
   * DateTimeText#TIMESTAMP} accepts.
   *
   * @param table offsets of the zone by local time
   * @param otherwise outcome for a malformed text: NULL or a failure
   */
  static HostFunction plain(int precision, ZoneOffsetTable table, Status otherwise) {
    return HostFunction.ofFallibleRow(
        (operands, result, row, rows) -> {
          byte[] text = operands[0].getBytes(row);
          Optional<LocalTime> time = DateTimeText.readPlainTimestamp(text);
          if (time.isEmpty()) {
            time = parse(string(text), DateTimeText.TIMESTAMP);
          }
          set(time, precision, table, otherwise, result, row, rows);
        });
  }

  /**
   * Parses texts that match a pattern or that {@link Timestamp#valueOf(String)} or {@link
   * Date#valueOf(String)} accepts; other texts give null.
   *
   * @param table offsets of the zone by local time
   */
  static HostFunction ofPattern(String pattern, int precision, ZoneOffsetTable table) {
    Optional<DateTimePattern> fixed =
        DateTimePattern.of(pattern, DateTimePattern.Dialect.JAVA_TIME)
            .filter(DateTimePattern::isReadable);
    Optional<DateTimeFormatter> formatter = DateTimeFormats.formatter(pattern);
    return HostFunction.ofFallibleRow(
        (operands, result, row, rows) -> {
          byte[] text = operands[0].getBytes(row);
          Optional<LocalTime> time = fixed.flatMap(fields -> fields.read(text));
          if (time.isEmpty() && formatter.isPresent()) {
            time = parseLaxly(string(text), formatter.get());
          }
          set(time, precision, table, Status.NULL, result, row, rows);
        });
  }

  /** Like {@link #ofPattern}, with a pattern for each row. */
  static HostFunction ofPatterns(int precision, ZoneOffsetTable table) {
    return (operands, result, rows) -> {
      DateTimeFormats.Cache formatters = new DateTimeFormats.Cache();
      for (int i = 0; i < rows.count(); i++) {
        int row = rows.position(i);
        String text = operands[0].getString(row);
        Optional<LocalTime> time =
            formatters
                .get(operands[1].getString(row))
                .flatMap(formatter -> parseLaxly(text, formatter));
        set(time, precision, table, Status.NULL, result, row, rows);
      }
    };
  }

  private static String string(byte[] text) {
    return new String(text, StandardCharsets.UTF_8);
  }

  private static void set(
      Optional<LocalTime> time,
      int precision,
      ZoneOffsetTable table,
      Status otherwise,
      HostVector result,
      int row,
      Rows rows) {
    if (time.isPresent()) {
      long local = time.get().millis();
      int unit = DateTimeArithmetic.powerOfTen(9 - precision);
      int nanosOfSecond = DateTimeArithmetic.nanosOfSecond(local, time.get().nanos());
      int nanos = nanosOfSecond - nanosOfSecond % unit;
      long millis = local - Math.floorMod(local, 1_000) + nanos / NANOS_PER_MILLI;
      Timestamps.set(result, row, millis - table.offset(millis), nanos % NANOS_PER_MILLI, rows);
    } else if (otherwise == Status.NULL) {
      result.setNull(row);
    } else {
      rows.fail(row, otherwise);
    }
  }

  private static Optional<LocalTime> parse(String text, DateTimeFormatter formatter) {
    try {
      return Optional.of(fields(formatter.parse(text)));
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }

  private static Optional<LocalTime> parseLaxly(String text, DateTimeFormatter formatter) {
    try {
      return Optional.of(fields(formatter.parse(text)));
    } catch (DateTimeParseException e) {
      return parseAsSql(text.trim());
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }

  private static Optional<LocalTime> parseAsSql(String text) {
    try {
      return Optional.of(
          localTime(
              text.indexOf(' ') >= 0
                  ? Timestamp.valueOf(text).toLocalDateTime()
                  : Date.valueOf(text).toLocalDate().atStartOfDay()));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static LocalTime fields(TemporalAccessor found) {
    return localTime(
        LocalDateTime.of(
            get(found, ChronoField.YEAR, 1970),
            get(found, ChronoField.MONTH_OF_YEAR, 1),
            get(found, ChronoField.DAY_OF_MONTH, 1),
            get(found, ChronoField.HOUR_OF_DAY, 0),
            get(found, ChronoField.MINUTE_OF_HOUR, 0),
            get(found, ChronoField.SECOND_OF_MINUTE, 0),
            get(found, ChronoField.NANO_OF_SECOND, 0)));
  }

  private static int get(TemporalAccessor found, TemporalField field, int otherwise) {
    return found.isSupported(field) ? found.get(field) : otherwise;
  }

  private static LocalTime localTime(LocalDateTime time) {
    long nanosOfDay = time.toLocalTime().toNanoOfDay();
    long millis =
        time.toLocalDate().toEpochDay() * DateTimeArithmetic.MILLIS_PER_DAY
            + nanosOfDay / NANOS_PER_MILLI;
    return new LocalTime(millis, (int) (nanosOfDay % NANOS_PER_MILLI));
  }
}
