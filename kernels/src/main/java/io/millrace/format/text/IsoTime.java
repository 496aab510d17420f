// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.text;

import io.millrace.annotation.Internal;

/**
 * Dates, times and timestamps of ISO 8601, as java.time reads them, of the years 0000 to 9999. The
 * twin of {@code text_time.cuh}. Reused for each value by one thread.
 */
@Internal
public final class IsoTime {
  private static final int MILLIS_OF_SECOND = 1000;
  private static final int NANOS_OF_MILLI = 1_000_000;
  private static final long MILLIS_OF_DAY = 86_400_000;
  private static final int NANO_DIGITS = 9;
  private static final int MAX_OFFSET_HOURS = 18;
  private static final int SECONDS_OF_HOUR = 3600;
  private static final int[] DAYS_OF_MONTH = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

  private int number;
  private int days;
  private int millisOfDay;
  private int nanosOfMilli;
  private int offset;
  private long millis;

  /** Reads a date: {@link #days}. False if there is none. */
  public boolean readDate(TextCursor text) {
    if (!readDigits(text, 4)) {
      return false;
    }
    int year = number;
    if (!text.take('-') || !readDigits(text, 2)) {
      return false;
    }
    int month = number;
    if (!text.take('-') || !readDigits(text, 2)) {
      return false;
    }
    if (month < 1 || month > 12 || number < 1 || number > daysOfMonth(year, month)) {
      return false;
    }
    days = days(year, month, number);
    return true;
  }

  private static int daysOfMonth(int year, int month) {
    boolean leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : DAYS_OF_MONTH[month - 1];
  }

  // Hinnant, "chrono-Compatible Low-Level Date Algorithms".
  private static int days(int year, int month, int day) {
    int shifted = year + 400 - (month <= 2 ? 1 : 0);
    int era = shifted / 400;
    int yearOfEra = shifted % 400;
    int dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
    return (era - 1) * 146_097 + dayOfEra - 719_468;
  }

  /**
   * Reads a time of day: {@link #millisOfDay} and {@link #nanosOfMilli}. False if there is none.
   */
  public boolean readTime(TextCursor text) {
    if (!readDigits(text, 2)) {
      return false;
    }
    int hour = number;
    if (!text.take(':') || !readDigits(text, 2)) {
      return false;
    }
    int minute = number;
    int second = 0;
    int nanos = 0;
    if (text.take(':')) {
      if (!readDigits(text, 2)) {
        return false;
      }
      second = number;
      if (text.take('.')) {
        nanos = readNanos(text);
      }
    }
    if (hour > 23 || minute > 59 || second > 59) {
      return false;
    }
    millisOfDay = ((hour * 60 + minute) * 60 + second) * MILLIS_OF_SECOND + nanos / NANOS_OF_MILLI;
    nanosOfMilli = nanos % NANOS_OF_MILLI;
    return true;
  }

  private static int readNanos(TextCursor text) {
    int nanos = 0;
    int digits = 0;
    for (; digits < NANO_DIGITS && text.isDigitNext(); digits++) {
      nanos = nanos * 10 + text.next() - '0';
    }
    for (; digits < NANO_DIGITS; digits++) {
      nanos *= 10;
    }
    return nanos;
  }

  /**
   * Reads a date, T or a space, a time, and an offset if there must be one: {@link #millis} since
   * 1970-01-01T00:00 and {@link #nanosOfMilli}. False if there is none.
   *
   * @param precision digits of the second that are kept
   */
  public boolean readTimestamp(TextCursor text, boolean hasOffset, int precision) {
    if (!readDate(text)) {
      return false;
    }
    int separator = text.next();
    if ((separator != 'T' && separator != 't' && separator != ' ') || !readTime(text)) {
      return false;
    }
    offset = 0;
    if (hasOffset && !readOffset(text)) {
      return false;
    }
    int unit = 1;
    for (int digits = precision; digits < NANO_DIGITS; digits++) {
      unit *= 10;
    }
    int nanos = (millisOfDay % MILLIS_OF_SECOND * NANOS_OF_MILLI + nanosOfMilli) / unit * unit;
    long seconds = (long) millisOfDay / MILLIS_OF_SECOND - offset;
    millis = days * MILLIS_OF_DAY + seconds * MILLIS_OF_SECOND + nanos / NANOS_OF_MILLI;
    nanosOfMilli = nanos % NANOS_OF_MILLI;
    return true;
  }

  // Z, or hours with a sign, and perhaps minutes, and perhaps seconds.
  private boolean readOffset(TextCursor text) {
    int first = text.next();
    if (first == 'Z' || first == 'z') {
      return true;
    }
    if ((first != '+' && first != '-') || !readDigits(text, 2) || number > MAX_OFFSET_HOURS) {
      return false;
    }
    int seconds = number * SECONDS_OF_HOUR;
    for (int unit = 60; unit > 0 && text.peek() != TextCursor.END_OF_TEXT; unit /= 60) {
      if (!text.take(':') || !readDigits(text, 2) || number > 59) {
        return false;
      }
      seconds += number * unit;
    }
    offset = first == '-' ? -seconds : seconds;
    return seconds <= MAX_OFFSET_HOURS * SECONDS_OF_HOUR;
  }

  private boolean readDigits(TextCursor text, int count) {
    number = 0;
    for (int i = 0; i < count; i++) {
      if (!text.isDigitNext()) {
        return false;
      }
      number = number * 10 + text.next() - '0';
    }
    return true;
  }

  /** Days since 1970-01-01. */
  public int days() {
    return days;
  }

  public int millisOfDay() {
    return millisOfDay;
  }

  public int nanosOfMilli() {
    return nanosOfMilli;
  }

  /** Milliseconds since 1970-01-01T00:00. */
  public long millis() {
    return millis;
  }
}
