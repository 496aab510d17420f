// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.vector;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.typed.TypedExpression;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Stored values as readable text. */
@Internal
public final class ValueText {
  private ValueText() {}

  /** A literal, see {@link TypedExpression.Literal}; dates and times include their type. */
  public static String ofLiteral(DataType type, Object value) {
    if (value instanceof String) {
      return "'" + value + "'";
    } else if (value instanceof TimestampNanos timestamp) {
      return type + " '" + timestamp(timestamp) + "'";
    }
    return ValueKind.isTemporal(type) && value instanceof Long stored
        ? type + " '" + of(type, stored) + "'"
        : String.valueOf(value);
  }

  public static String of(DataType type, long stored) {
    return switch (type.id()) {
      case DATE -> LocalDate.ofEpochDay(stored).toString();
      case TIME -> LocalTime.ofNanoOfDay(TimeUnit.MILLISECONDS.toNanos(stored)).toString();
      case TIMESTAMP_MILLIS -> timestamp(type, Instant.ofEpochMilli(stored));
      case TIMESTAMP_MICROS ->
          timestamp(
              type,
              Instant.ofEpochSecond(
                  Math.floorDiv(stored, 1_000_000L), Math.floorMod(stored, 1_000_000L) * 1_000));
      case DECIMAL32, DECIMAL64 -> BigDecimal.valueOf(stored, type.scale()).toPlainString();
      default -> Long.toString(stored);
    };
  }

  private static String timestamp(DataType type, Instant instant) {
    return type.withTimeZone()
        ? instant.toString()
        : instant.atOffset(ZoneOffset.UTC).toLocalDateTime().toString();
  }

  /** A timestamp with nine fraction digits in SQL notation. */
  public static String timestamp(TimestampNanos timestamp) {
    DataType micros = new DataType(TypeId.TIMESTAMP_MILLIS, 3, 0, false, List.of());
    long second = Math.floorDiv(timestamp.millis(), 1_000L) * 1_000;
    long nanos = Math.floorMod(timestamp.millis(), 1_000L) * 1_000_000 + timestamp.nanos();
    String text = of(micros, second);
    return withSeconds(text) + String.format(Locale.ROOT, ".%09d", nanos);
  }

  /** Adds seconds of zero, which Java omits and SQL requires. */
  public static String withSeconds(String text) {
    String spaced = text.replace('T', ' ');
    return spaced.length() == "1970-01-01 00:00".length() ? spaced + ":00" : spaced;
  }
}
