// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import io.millrace.expression.function.temporal.JulianCalendar.CivilDate;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A pattern of numeric fields and literal text that the device can write, and can read if each
 * field has a fixed width: four-digit years, months, days, hours, minutes, seconds and fractions.
 * {@code datetime_text.cuh} documents the encoding. Immutable.
 */
final class DateTimePattern {
  /** Java class that defines the meaning of the pattern letters. */
  enum Dialect {
    /** {@link java.time.format.DateTimeFormatter}. */
    JAVA_TIME,
    /** {@link java.text.SimpleDateFormat}. */
    LEGACY
  }

  /** A field of a date or time. */
  enum Field {
    YEAR(0),
    MONTH(1),
    DAY(2),
    HOUR(3),
    MINUTE(4),
    SECOND(5),
    FRACTION(6),
    TEXT(7);

    private final int code;

    Field(int code) {
      this.code = code;
    }

    /** The code of the field on the device and its index in the values of a parsed text. */
    int code() {
      return code;
    }
  }

  /** A parsed local time in the years 1 to 9999. */
  record LocalTime(long millis, int nanos) {}

  private static final class Part {
    final Field field;
    final int digits;
    final byte[] text;

    Part(Field field, int digits, byte[] text) {
      this.field = field;
      this.digits = digits;
      this.text = text;
    }

    boolean hasDigits() {
      return new String(text, StandardCharsets.UTF_8).chars().anyMatch(Character::isDigit);
    }
  }

  private static final int MAX_TEXT = 255;
  private static final int LEGACY_FRACTION = 3;
  private static final int FIRST_YEAR = 1;

  private final List<Part> parts;
  private final boolean readable;

  private DateTimePattern(List<Part> parts, boolean readable) {
    this.parts = List.copyOf(parts);
    this.readable = readable;
  }

  /** Compiles a pattern; empty if it has unsupported letters or repetitions of letters. */
  static Optional<DateTimePattern> of(String pattern, Dialect dialect) {
    List<Part> parts = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    int i = 0;
    while (i < pattern.length()) {
      char c = pattern.charAt(i);
      if (c == '\'') {
        int end = quoted(pattern, i, text);
        if (end < 0) {
          return Optional.empty();
        }
        i = end;
      } else if (isLetter(c)) {
        int end = i;
        while (end < pattern.length() && pattern.charAt(end) == c) {
          end++;
        }
        Optional<Part> part = number(c, end - i, dialect);
        if (part.isEmpty()) {
          return Optional.empty();
        }
        addText(parts, text);
        parts.add(part.get());
        i = end;
      } else if (dialect == Dialect.JAVA_TIME && "[]{}#".indexOf(c) >= 0) {
        return Optional.empty();
      } else {
        text.append(c);
        i++;
      }
    }
    addText(parts, text);
    boolean fits = parts.stream().allMatch(part -> part.digits <= MAX_TEXT);
    return fits
        ? Optional.of(new DateTimePattern(parts, isReadable(parts, dialect)))
        : Optional.empty();
  }

  private static boolean isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }

  /** Adds quoted text; returns the index of the closing quote, or -1 if there is none. */
  private static int quoted(String pattern, int start, StringBuilder text) {
    if (pattern.startsWith("''", start)) {
      text.append('\'');
      return start + 2;
    }
    int i = start + 1;
    while (i < pattern.length()) {
      if (pattern.startsWith("''", i)) {
        text.append('\'');
        i += 2;
      } else if (pattern.charAt(i) == '\'') {
        return i + 1;
      } else {
        text.append(pattern.charAt(i++));
      }
    }
    return -1;
  }

  private static void addText(List<Part> parts, StringBuilder text) {
    if (text.length() > 0) {
      byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
      parts.add(new Part(Field.TEXT, bytes.length, bytes));
      text.setLength(0);
    }
  }

  private static Optional<Part> number(char letter, int count, Dialect dialect) {
    Field field =
        switch (letter) {
          case 'y' -> Field.YEAR;
          case 'u' -> dialect == Dialect.JAVA_TIME ? Field.YEAR : Field.TEXT;
          case 'M' -> Field.MONTH;
          case 'd' -> Field.DAY;
          case 'H' -> Field.HOUR;
          case 'm' -> Field.MINUTE;
          case 's' -> Field.SECOND;
          case 'S' -> Field.FRACTION;
          default -> Field.TEXT;
        };
    boolean known =
        switch (field) {
          case YEAR -> count == 2 || count == 4;
          case FRACTION -> count <= 9;
          case TEXT -> false;
          default -> count <= 2;
        };
    return known ? Optional.of(new Part(field, count, new byte[0])) : Optional.empty();
  }

  private static boolean isReadable(List<Part> parts, Dialect dialect) {
    Set<Field> seen = EnumSet.noneOf(Field.class);
    for (Part part : parts) {
      boolean fixed =
          switch (part.field) {
            case YEAR -> part.digits == 4;
            case FRACTION -> dialect == Dialect.JAVA_TIME || part.digits == LEGACY_FRACTION;
            case TEXT -> !part.hasDigits();
            default -> part.digits == 2;
          };
      if (!fixed || (part.field != Field.TEXT && !seen.add(part.field))) {
        return false;
      }
    }
    return true;
  }

  /** Whether {@link #read} and the device can parse this pattern. */
  boolean isReadable() {
    return readable;
  }

  /** Maximum length in bytes of a formatted text. */
  int maximumBytes() {
    return parts.stream().mapToInt(part -> Math.max(part.digits, 2)).sum();
  }

  /**
   * Encodes the constant of the device functions.
   *
   * @param zone offsets of the time zone
   */
  byte[] toBytes(ZoneOffsetTable zone) {
    ByteArrayOutputStream fields = new ByteArrayOutputStream();
    for (Part part : parts) {
      fields.write(part.field.code());
      fields.write(part.digits);
      fields.writeBytes(part.text);
    }
    byte[] table = zone.toBytes();
    int offset = 2 * Integer.BYTES + table.length;
    return ByteBuffer.allocate(offset + fields.size())
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(offset)
        .putInt(fields.size())
        .put(table)
        .put(fields.toByteArray())
        .array();
  }

  /** Concatenates two constants; the second starts at a multiple of 8 bytes. */
  static byte[] join(byte[] first, byte[] second) {
    int start = (first.length + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
    byte[] both = Arrays.copyOf(first, start + second.length);
    System.arraycopy(second, 0, both, start, second.length);
    return both;
  }

  /**
   * Formats a time in the years 1 to 9999.
   *
   * @return the end of the written bytes
   */
  int write(byte[] to, CivilDate date, int millisOfDay, int nanosOfSecond) {
    int at = 0;
    for (Part part : parts) {
      switch (part.field) {
        case TEXT -> {
          System.arraycopy(part.text, 0, to, at, part.digits);
          at += part.digits;
        }
        case FRACTION -> {
          int fraction = nanosOfSecond / DateTimeArithmetic.powerOfTen(9 - part.digits);
          at = DateTimeText.putDigits(to, at, fraction, part.digits);
        }
        default -> {
          int value = value(part.field, date, millisOfDay / 1_000);
          int digits = part.digits == 1 && value > 9 ? 2 : part.digits;
          at = DateTimeText.putDigits(to, at, value, digits);
        }
      }
    }
    return at;
  }

  private static int value(Field field, CivilDate date, int secondOfDay) {
    return switch (field) {
      case YEAR -> date.year();
      case MONTH -> date.month();
      case DAY -> date.day();
      case HOUR -> secondOfDay / 3_600;
      case MINUTE -> secondOfDay / 60 % 60;
      default -> secondOfDay % 60;
    };
  }

  /**
   * Parses a local time. Empty if a field does not have its exact width or is out of range; a Java
   * formatter, which is more lenient, may still parse the text.
   */
  Optional<LocalTime> read(byte[] text) {
    int[] values = {1970, 1, 1, 0, 0, 0, 0};
    int at = 0;
    for (Part part : parts) {
      if (text.length - at < part.digits) {
        return Optional.empty();
      }
      if (part.field == Field.TEXT) {
        if (!Arrays.equals(text, at, at + part.digits, part.text, 0, part.digits)) {
          return Optional.empty();
        }
      } else {
        int value = DateTimeText.getDigits(text, at, part.digits);
        if (value < 0) {
          return Optional.empty();
        }
        values[part.field.code()] =
            part.field == Field.FRACTION
                ? value * DateTimeArithmetic.powerOfTen(9 - part.digits)
                : value;
      }
      at += part.digits;
    }
    return at == text.length ? localTime(values) : Optional.empty();
  }

  /**
   * The local time with this year, month, day, hour, minute, second and nanosecond; empty if it
   * does not exist.
   */
  static Optional<LocalTime> localTime(int[] values) {
    CivilDate date = new CivilDate(values[0], values[1], values[2]);
    if (date.year() < FIRST_YEAR
        || !date.isValid()
        || values[3] > 23
        || values[4] > 59
        || values[5] > 59) {
      return Optional.empty();
    }
    long day = JulianCalendar.epochDay(date.year(), date.month(), date.day());
    int second = (values[3] * 60 + values[4]) * 60 + values[5];
    long millis = day * DateTimeArithmetic.MILLIS_PER_DAY + second * 1_000L + values[6] / 1_000_000;
    return Optional.of(new LocalTime(millis, values[6] % 1_000_000));
  }
}
