// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.DataType;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.util.Base64;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;

/**
 * Parses the text of one value into the form that rows hold. Strict: nothing is guessed, cut off or
 * turned into null. Two roundings are SQL's: digits of a decimal beyond its scale are rounded half
 * up, digits of a second beyond a timestamp's precision are dropped.
 */
final class ScalarParser {
  private static final int NANO_DIGITS = 9;
  private static final int DATE_LENGTH = 10;
  private static final int NANOS_PER_MILLI = 1_000_000;

  private ScalarParser() {}

  /**
   * Numbers as Java writes them; {@code true}, {@code false}; ISO-8601 dates, times, timestamps (a
   * space may stand for the T; with time zone an offset or Z is needed); Base64.
   *
   * @throws MalformedLineException if {@code text} is not a value of the field's type
   */
  static Object parse(ValueField field, String text) throws MalformedLineException {
    try {
      return parse(field.type(), text);
    } catch (IllegalArgumentException | ArithmeticException | DateTimeException e) {
      MalformedLineException malformed = MalformedLineException.noValue(field, text);
      malformed.initCause(e);
      throw malformed;
    }
  }

  private static Object parse(DataType type, String text) {
    return switch (type.id()) {
      case BOOL -> parseBoolean(text);
      case INT8 -> Byte.valueOf(text);
      case INT16 -> Short.valueOf(text);
      case INT32 -> Integer.valueOf(text);
      case INT64 -> Long.valueOf(text);
      case FLOAT32 -> finite(Float.valueOf(floatingPoint(text)), text);
      case FLOAT64 -> finite(Double.valueOf(floatingPoint(text)), text);
      case DECIMAL32, DECIMAL64, DECIMAL128 -> parseDecimal(type, text);
      case DATE -> Math.toIntExact(LocalDate.parse(text).toEpochDay());
      case TIME -> (int) (LocalTime.parse(text).toNanoOfDay() / NANOS_PER_MILLI);
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> parseTimestamp(type, text);
      case STRING -> StringData.fromString(text);
      case BINARY -> Base64.getDecoder().decode(text);
      case LIST, STRUCT, DICTIONARY ->
          throw new IllegalArgumentException(type + " is not one value");
    };
  }

  private static boolean parseBoolean(String text) {
    if (text.equalsIgnoreCase("true")) {
      return true;
    }
    if (text.equalsIgnoreCase("false")) {
      return false;
    }
    throw new IllegalArgumentException("neither true nor false");
  }

  // Java's own parser also takes spaces, hexadecimal and the suffixes f and d.
  private static String floatingPoint(String text) {
    if (isNotFinite(text)) {
      return text;
    }
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if ((c < '0' || c > '9') && "+-.eE".indexOf(c) < 0) {
        throw new NumberFormatException("not a decimal number");
      }
    }
    return text;
  }

  private static boolean isNotFinite(String text) {
    return text.equals("NaN") || text.equals("Infinity") || text.equals("-Infinity");
  }

  private static Number finite(Number value, String text) {
    if (!Double.isFinite(value.doubleValue()) && !isNotFinite(text)) {
      throw new ArithmeticException("too large");
    }
    return value;
  }

  private static DecimalData parseDecimal(DataType type, String text) {
    BigDecimal value = new BigDecimal(text);
    long integerDigits = (long) value.precision() - value.scale();
    if (value.signum() == 0 || integerDigits < -type.scale()) {
      // Also keeps tiny exponents away from setScale, which would take for ever.
      value = BigDecimal.ZERO;
    } else if (integerDigits > type.precision() - type.scale()) {
      throw new ArithmeticException("too many digits");
    }
    DecimalData decimal = DecimalData.fromBigDecimal(value, type.precision(), type.scale());
    if (decimal == null) {
      throw new ArithmeticException("too many digits once rounded");
    }
    return decimal;
  }

  private static TimestampData parseTimestamp(DataType type, String text) {
    String iso =
        text.length() > DATE_LENGTH && text.charAt(DATE_LENGTH) == ' '
            ? text.substring(0, DATE_LENGTH) + 'T' + text.substring(DATE_LENGTH + 1)
            : text;
    Instant instant =
        type.withTimeZone()
            ? OffsetDateTime.parse(iso).toInstant()
            : LocalDateTime.parse(iso).toInstant(ZoneOffset.UTC);
    int unit = 1;
    for (int digits = type.precision(); digits < NANO_DIGITS; digits++) {
      unit *= 10;
    }
    int nanos = instant.get(ChronoField.NANO_OF_SECOND) / unit * unit;
    return TimestampData.fromEpochMillis(
        instant.with(ChronoField.NANO_OF_SECOND, nanos).toEpochMilli(), nanos % NANOS_PER_MILLI);
  }
}
