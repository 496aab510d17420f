// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

/** Dates and times as text of ISO 8601. The twin of {@code time_writer.cuh}. Used by one thread. */
final class TimeWriter {
  /** Nanoseconds of a millisecond. */
  static final int NANOS_OF_MILLI = 1_000_000;

  private static final long MILLIS_OF_DAY = 86_400_000;
  private static final long MICROS_OF_DAY = MILLIS_OF_DAY * 1000;
  private static final long NANOS_OF_SECOND = 1_000_000_000;
  private static final int MAX_PLAIN_YEAR = 9999;

  private final NumberWriter digits;

  // The last date of four digits of a year: neighbouring rows mostly have the same one.
  private long lastDay = Long.MIN_VALUE;
  private long lastYearAndMonth;
  private long lastDayOfMonth;

  /**
   * @param digits which this uses, too
   */
  TimeWriter(NumberWriter digits) {
    this.digits = digits;
  }

  /**
   * Puts a date. Years beyond four digits have a sign.
   *
   * @param day since 1970-01-01
   */
  void putDate(TextSink sink, long day) {
    if (day == lastDay) {
      sink.put(lastYearAndMonth, Long.BYTES);
      sink.put(lastDayOfMonth, 2);
    } else {
      putOtherDate(sink, day);
    }
  }

  // Hinnant, "chrono-Compatible Low-Level Date Algorithms".
  private void putOtherDate(TextSink sink, long day) {
    long shifted = day + 719_468;
    long era = Math.floorDiv(shifted, 146_097);
    int dayOfEra = (int) (shifted - era * 146_097);
    int yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
    int dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
    int marchMonth = (5 * dayOfYear + 2) / 153;
    int dayOfMonth = dayOfYear - (153 * marchMonth + 2) / 5 + 1;
    int month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
    long year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
    long magnitude = Math.abs(year);
    if (year < 0 || year > MAX_PLAIN_YEAR) {
      sink.put(year < 0 ? '-' : '+');
    }
    if (magnitude > MAX_PLAIN_YEAR) {
      digits.setDigits(magnitude, 0);
      digits.putDigits(sink, digits.first(), NumberWriter.DIGITS);
      putMonthAndDay(sink, month, dayOfMonth);
      return;
    }
    int four = (int) magnitude;
    long dash = '-';
    long yearAndMonth =
        NumberWriter.twoDigits(four / 100)
            | NumberWriter.twoDigits(four % 100) << 16
            | dash << 32
            | NumberWriter.twoDigits(month) << 40
            | dash << 56;
    sink.put(yearAndMonth, Long.BYTES);
    sink.put(NumberWriter.twoDigits(dayOfMonth), 2);
    if (year >= 0) {
      lastDay = day;
      lastYearAndMonth = yearAndMonth;
      lastDayOfMonth = NumberWriter.twoDigits(dayOfMonth);
    }
  }

  private static void putMonthAndDay(TextSink sink, int month, int dayOfMonth) {
    long dash = '-';
    sink.put(
        dash
            | NumberWriter.twoDigits(month) << 8
            | dash << 24
            | NumberWriter.twoDigits(dayOfMonth) << 32,
        6);
  }

  /** Puts a time of day; one below zero counts from the end of the day, as in a cast. */
  void putTimeOfMillis(TextSink sink, int millisOfDay, int precision) {
    long positive = millisOfDay < 0 ? Math.floorMod(millisOfDay, MILLIS_OF_DAY) : millisOfDay;
    putTime(sink, positive * NANOS_OF_MILLI, precision);
  }

  /**
   * Puts a time of day.
   *
   * @param precision digits behind the second, 0 to 9
   */
  private void putTime(TextSink sink, long nanosOfDay, int precision) {
    int second = (int) (nanosOfDay / NANOS_OF_SECOND);
    long colon = ':';
    sink.put(
        NumberWriter.twoDigits(second / 3600 % 100)
            | colon << 16
            | NumberWriter.twoDigits(second / 60 % 60) << 24
            | colon << 40
            | NumberWriter.twoDigits(second % 60) << 48,
        Long.BYTES);
    if (precision == 0) {
      return;
    }
    int nanos = (int) (nanosOfDay % NANOS_OF_SECOND);
    sink.put('.' | (long) ('0' + nanos / NumberWriter.GROUP) << Byte.SIZE, 2);
    long rest = NumberWriter.eightDigits(nanos % NumberWriter.GROUP) | NumberWriter.ZERO_DIGITS;
    sink.put(rest, precision - 1);
  }

  /**
   * Puts a date, a separator and a time.
   *
   * @param units since 1970-01-01T00:00
   * @param unit nanoseconds: of a millisecond or of a microsecond
   * @param nanos beside the units
   */
  void putTimestamp(
      TextSink sink,
      long units,
      int unit,
      int nanos,
      int precision,
      char separator,
      boolean hasZone) {
    // Constants, since processors divide slowly.
    boolean isMillis = unit == NANOS_OF_MILLI;
    long day = isMillis ? Math.floorDiv(units, MILLIS_OF_DAY) : Math.floorDiv(units, MICROS_OF_DAY);
    putDate(sink, day);
    sink.put(separator);
    long unitsInDay = units - day * (isMillis ? MILLIS_OF_DAY : MICROS_OF_DAY);
    putTime(sink, unitsInDay * unit + nanos, precision);
    if (hasZone) {
      sink.put('Z');
    }
  }
}
