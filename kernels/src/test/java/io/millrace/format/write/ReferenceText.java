// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.column.DataType;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.Locale;
import java.util.stream.Stream;

/** What writers are compared with: the text of Java values by Java's own classes. */
public final class ReferenceText {
  private static final int MAX_DIGITS = 17;
  private static final BigDecimal MIN_PLAIN = new BigDecimal("1e-3");
  private static final BigDecimal MAX_PLAIN = new BigDecimal("1e7");

  private ReferenceText() {}

  /** The text of a value of a type that is not nested, without quotes. */
  public static String scalar(DataType type, Object value) {
    return switch (type.id()) {
      case FLOAT32, FLOAT64 -> shortest((Number) value);
      case DECIMAL32, DECIMAL64, DECIMAL128 -> ((BigDecimal) value).toPlainString();
      case TIME -> time((LocalTime) value, 3);
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS ->
          value instanceof Instant instant
              ? timestamp(LocalDateTime.ofInstant(instant, ZoneOffset.UTC), type) + "Z"
              : timestamp((LocalDateTime) value, type);
      case BINARY -> Base64.getEncoder().encodeToString(((ByteBuffer) value).array());
      default -> value.toString();
    };
  }

  private static String timestamp(LocalDateTime value, DataType type) {
    return value.toLocalDate() + "T" + time(value.toLocalTime(), type.precision());
  }

  private static String time(LocalTime value, int precision) {
    String fraction = String.format(Locale.ROOT, "%09d", value.getNano()).substring(0, precision);
    String seconds =
        String.format(
            Locale.ROOT, "%02d:%02d:%02d", value.getHour(), value.getMinute(), value.getSecond());
    return precision == 0 ? seconds : seconds + "." + fraction;
  }

  /**
   * What {@link Double#toString(double)} is specified to give from Java 19 on: of the decimals that
   * round to the number those with the fewest digits, at least two, and of them the nearest one.
   */
  static String shortest(Number number) {
    boolean isFloat = number instanceof Float;
    double value = number.doubleValue();
    if (!Double.isFinite(value) || value == 0) {
      return Double.toString(value);
    }
    BigDecimal exact = new BigDecimal(Math.abs(value));
    for (int digits = 2; digits <= MAX_DIGITS; digits++) {
      BigDecimal nearest =
          Stream.of(RoundingMode.FLOOR, RoundingMode.CEILING)
              .map(new RoundTo(exact, digits)::round)
              .filter(decimal -> isOf(decimal, Math.abs(value), isFloat))
              .min((left, right) -> compare(exact, left, right))
              .orElse(null);
      if (nearest != null) {
        return (value < 0 ? "-" : "") + form(nearest);
      }
    }
    throw new AssertionError("no decimal of 17 digits is " + value);
  }

  private record RoundTo(BigDecimal exact, int digits) {
    BigDecimal round(RoundingMode mode) {
      return exact.round(new MathContext(digits, mode));
    }
  }

  private static boolean isOf(BigDecimal decimal, double value, boolean isFloat) {
    return isFloat ? decimal.floatValue() == (float) value : decimal.doubleValue() == value;
  }

  // The nearer one first, and of two the one whose last digit is even.
  private static int compare(BigDecimal exact, BigDecimal left, BigDecimal right) {
    int nearer = exact.subtract(left).abs().compareTo(exact.subtract(right).abs());
    return nearer != 0 ? nearer : left.unscaledValue().testBit(0) ? 1 : -1;
  }

  private static String form(BigDecimal decimal) {
    BigDecimal stripped = decimal.stripTrailingZeros();
    if (decimal.compareTo(MIN_PLAIN) >= 0 && decimal.compareTo(MAX_PLAIN) < 0) {
      return (stripped.scale() < 1 ? stripped.setScale(1) : stripped).toPlainString();
    }
    String digits = stripped.unscaledValue().toString();
    String fraction = digits.length() == 1 ? "0" : digits.substring(1);
    int exponent = digits.length() - 1 - stripped.scale();
    return digits.charAt(0) + "." + fraction + "E" + exponent;
  }
}
