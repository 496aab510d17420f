// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import static io.millrace.expression.function.temporal.DateTimeArithmetic.MILLIS_PER_DAY;

import io.millrace.expression.function.temporal.DateTimePattern.LocalTime;
import io.millrace.expression.function.temporal.JulianCalendar.CivilDate;
import java.nio.charset.StandardCharsets;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.Locale;
import java.util.Optional;

/** Text forms of dates and times in casts; the twin of {@code datetime_text.cuh}. */
final class DateTimeText {
  /** Length in bytes of a formatted date. */
  static final int DATE_BYTES = 10;

  /** Result of {@link #parseDate} for a malformed text. */
  static final long NO_DATE = Long.MIN_VALUE;

  /** Result of {@link #parseDate} for a text with a number that overflows an int. */
  static final long TOO_LARGE = Long.MAX_VALUE;

  /** Result of {@link #parseTime} for a malformed text. */
  static final long NO_TIME = Long.MIN_VALUE;

  /** The formatter that Flink parses timestamps with. */
  static final DateTimeFormatter TIMESTAMP =
      new DateTimeFormatterBuilder()
          .appendPattern("yyyy-[MM][M]-[dd][d]")
          .optionalStart()
          .appendPattern(" [HH][H]:[mm][m]:[ss][s]")
          .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true)
          .optionalEnd()
          .toFormatter(Locale.ROOT);

  private static final int PLAIN_DATE = 10;
  private static final int PLAIN_SECONDS = 19;

  private DateTimeText() {}

  /**
   * Writes digits one by one. Digits of a negative number are computed as in Flink's character
   * arithmetic.
   */
  static int putDigits(byte[] to, int at, int value, int digits) {
    int rest = value;
    for (int i = at + digits - 1; i >= at; i--) {
      to[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    return at + digits;
  }

  private static int put(byte[] to, int at, char c) {
    to[at] = (byte) c;
    return at + 1;
  }

  private static int putDate(byte[] to, CivilDate date) {
    int at = put(to, putDigits(to, 0, date.year(), 4), '-');
    at = put(to, putDigits(to, at, date.month(), 2), '-');
    return putDigits(to, at, date.day(), 2);
  }

  private static int putTime(byte[] to, int start, int millisOfDay) {
    int seconds = millisOfDay / 1_000;
    int at = put(to, putDigits(to, start, seconds / 3_600, 2), ':');
    at = put(to, putDigits(to, at, seconds / 60 % 60, 2), ':');
    return putDigits(to, at, seconds % 60, 2);
  }

  /** Writes a date; returns the end of the written bytes. */
  static int writeDate(byte[] to, int date) {
    return putDate(to, JulianCalendar.civilDate(date + JulianCalendar.EPOCH_JULIAN));
  }

  /**
   * Writes a time of day with as many fraction digits as needed, at least one and at most {@code
   * precision}.
   */
  static int writeTime(byte[] to, int time, int precision) {
    int positive = time;
    while (positive < 0) {
      positive += (int) MILLIS_PER_DAY;
    }
    int millis = positive % 1_000;
    int at = putTime(to, 0, positive);
    if (precision == 0) {
      return at;
    }
    int digits = Math.min(precision, millis % 100 == 0 ? 1 : millis % 10 == 0 ? 2 : 3);
    at = put(to, at, '.');
    return putDigits(to, at, millis / DateTimeArithmetic.powerOfTen(3 - digits), digits);
  }

  /** Writes a timestamp with {@code precision} fraction digits; its day number wraps to 32 bits. */
  static int writeTimestamp(byte[] to, long millis, int nanos, int precision) {
    int day = DateTimeArithmetic.epochDayOf(millis);
    int at = put(to, putDate(to, JulianCalendar.civilDateOfEpochDay(day)), ' ');
    at = putTime(to, at, (int) Math.floorMod(millis, MILLIS_PER_DAY));
    if (precision == 0) {
      return at;
    }
    int nanosOfSecond = DateTimeArithmetic.nanosOfSecond(millis, nanos);
    int fraction = nanosOfSecond / DateTimeArithmetic.powerOfTen(9 - precision);
    return putDigits(to, put(to, at, '.'), fraction, precision);
  }

  /** Parses exactly {@code digits} digits; returns -1 if there are fewer. */
  static int getDigits(byte[] text, int at, int digits) {
    int value = 0;
    for (int i = at; i < at + digits; i++) {
      if (text[i] < '0' || text[i] > '9') {
        return -1;
      }
      value = value * 10 + (text[i] - '0');
    }
    return value;
  }

  /**
   * Parses {@code yyyy-MM-dd}, optionally followed by {@code HH:mm:ss} and a fraction, as a local
   * time. Empty for other forms, which {@link #TIMESTAMP} may accept.
   */
  static Optional<LocalTime> readPlainTimestamp(byte[] text) {
    int length = text.length;
    if (length < PLAIN_DATE || text[4] != '-' || text[7] != '-') {
      return Optional.empty();
    }
    int[] values = new int[7];
    values[0] = getDigits(text, 0, 4);
    values[1] = getDigits(text, 5, 2);
    values[2] = getDigits(text, 8, 2);
    if (length > PLAIN_DATE) {
      if (length < PLAIN_SECONDS || text[10] != ' ' || text[13] != ':' || text[16] != ':') {
        return Optional.empty();
      }
      for (int i = 0; i < 3; i++) {
        values[3 + i] = getDigits(text, 11 + 3 * i, 2);
      }
    }
    if (length > PLAIN_SECONDS) {
      int digits = length - PLAIN_SECONDS - 1;
      if (text[PLAIN_SECONDS] != '.' || digits < 1 || digits > 9) {
        return Optional.empty();
      }
      int fraction = getDigits(text, PLAIN_SECONDS + 1, digits);
      values[6] = fraction < 0 ? -1 : fraction * DateTimeArithmetic.powerOfTen(9 - digits);
    }
    return Math.min(Math.min(values[3], values[4]), Math.min(values[5], values[6])) < 0
        ? Optional.empty()
        : DateTimePattern.localTime(values);
  }

  /**
   * Parses {@code year[-month[-day]]} as Flink does: blanks may surround the numbers, and
   * everything after a blank is ignored. Returns {@link #NO_DATE} or {@link #TOO_LARGE} on failure.
   */
  static long parseDate(byte[] text) {
    String all = new String(text, StandardCharsets.UTF_8);
    int blank = all.indexOf(' ');
    String[] parts = (blank > 0 ? all.substring(0, blank) : all).split("-", 3);
    int[] numbers = {0, 1, 1};
    for (int i = 0; i < parts.length; i++) {
      long number = number(parts[i]);
      if (number < 0 || number > Integer.MAX_VALUE) {
        return number < 0 ? NO_DATE : TOO_LARGE;
      }
      numbers[i] = (int) number;
    }
    CivilDate date = new CivilDate(numbers[0], numbers[1], numbers[2]);
    return date.year() > 9999 || !date.isValid()
        ? NO_DATE
        : JulianCalendar.epochDay(date.year(), date.month(), date.day());
  }

  /** Parses digits surrounded by optional blanks; returns -1 on failure. */
  private static long number(String text) {
    String digits = text.trim();
    if (digits.isEmpty() || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return -1;
    }
    long value = 0;
    for (int i = 0; i < digits.length() && value <= Integer.MAX_VALUE; i++) {
      value = value * 10 + (digits.charAt(i) - '0');
    }
    return value;
  }

  /**
   * Parses {@code hour[:minute[:second[.fraction]]][(+ -)hour[:minute]]} as Flink does and returns
   * milliseconds, which may exceed one day, or {@link #NO_TIME} on failure.
   */
  static long parseTime(byte[] text) {
    String all = new String(text, StandardCharsets.UTF_8);
    int zone = all.indexOf('-');
    int sign = -1;
    if (zone < 0) {
      zone = all.indexOf('+');
      sign = 1;
    }
    String[] offset = zone < 0 ? new String[0] : all.substring(zone + 1).split(":", 2);
    String[] time = (zone < 0 ? all : all.substring(0, zone)).split(":", 3);
    String fraction = "";
    int dot = time.length == 3 ? time[2].indexOf('.') : -1;
    if (dot >= 0) {
      fraction = time[2].substring(dot + 1);
      time[2] = time[2].substring(0, dot);
    }
    int[] offsets = numbers(offset, 2);
    int[] numbers = numbers(time, 3);
    if (offsets.length == 0
        || numbers.length == 0
        || (offset.length == 2 && time.length < 3)
        || numbers[0] > 23
        || numbers[1] > 59
        || numbers[2] > 59) {
      return NO_TIME;
    }
    int hour = numbers[0] + sign * offsets[0];
    int minute = numbers[1] + sign * offsets[1];
    return millis(hour, minute, numbers[2] * 1_000 + fraction(fraction.trim()));
  }

  private static int millis(int hour, int minute, int millis) {
    return hour * 3_600_000 + minute * 60_000 + millis;
  }

  /** Parses numbers and pads them with zeros; empty array if a text is not an int. */
  private static int[] numbers(String[] texts, int count) {
    int[] numbers = new int[count];
    for (int i = 0; i < texts.length; i++) {
      long number = number(texts[i]);
      if (number < 0 || number > Integer.MAX_VALUE) {
        return new int[0];
      }
      numbers[i] = (int) number;
    }
    return numbers;
  }

  /** Parses milliseconds, rounded at the fourth digit. Non-digits count as zero. */
  private static int fraction(String text) {
    int millis = 0;
    int multiplier = 100;
    for (int i = 0; i < text.length() && multiplier > 0; i++, multiplier /= 10) {
      char c = text.charAt(i);
      millis += c >= '0' && c <= '9' ? multiplier * (c - '0') : 0;
      if (multiplier == 1 && i + 1 < text.length() && text.charAt(i + 1) >= '5') {
        millis++;
      }
    }
    return millis;
  }
}
