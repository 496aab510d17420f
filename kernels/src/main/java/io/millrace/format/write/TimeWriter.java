// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

/** Dates and times as text of ISO 8601. The twin of {@code time_writer.cuh}. Used by one thread. */
final class TimeWriter {
  /** Nanoseconds of a millisecond. */
  static final int NANOS_OF_MILLI = 1_000_000;

  private static final long NANOS_OF_DAY = 86_400_000_000_000L;
  private static final long NANOS_OF_SECOND = 1_000_000_000;
  private static final int MAX_PLAIN_YEAR = 9999;

  private final NumberWriter digits;

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
    // Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    long shifted = day + 719_468;
    long era = Math.floorDiv(shifted, 146_097);
    int dayOfEra = (int) (shifted - era * 146_097);
    int yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
    int dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
    int marchMonth = (5 * dayOfYear + 2) / 153;
    int dayOfMonth = dayOfYear - (153 * marchMonth + 2) / 5 + 1;
    int month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
    putYear(sink, yearOfEra + era * 400 + (month <= 2 ? 1 : 0));
    long dash = '-';
    sink.put(
        dash
            | NumberWriter.twoDigits(month) << 8
            | dash << 24
            | NumberWriter.twoDigits(dayOfMonth) << 32,
        6);
  }

  private void putYear(TextSink sink, long year) {
    long magnitude = Math.abs(year);
    if (year < 0 || year > MAX_PLAIN_YEAR) {
      sink.put(year < 0 ? '-' : '+');
    }
    if (magnitude > MAX_PLAIN_YEAR) {
      digits.setDigits(magnitude, 0);
      digits.putDigits(sink, digits.first(), NumberWriter.DIGITS);
    } else {
      int four = (int) magnitude;
      sink.put(NumberWriter.twoDigits(four / 100) | NumberWriter.twoDigits(four % 100) << 16, 4);
    }
  }

  /**
   * Puts a time of day.
   *
   * @param precision digits behind the second, 0 to 9
   */
  void putTime(TextSink sink, long nanosOfDay, int precision) {
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
   * Puts a date, T and a time.
   *
   * @param units since 1970-01-01T00:00
   * @param unit nanoseconds, which divide a day
   * @param nanos beside the units
   */
  void putTimestamp(
      TextSink sink, long units, int unit, int nanos, int precision, boolean hasZone) {
    long unitsOfDay = NANOS_OF_DAY / unit;
    long day = Math.floorDiv(units, unitsOfDay);
    putDate(sink, day);
    sink.put('T');
    putTime(sink, (units - day * unitsOfDay) * unit + nanos, precision);
    if (hasZone) {
      sink.put('Z');
    }
  }
}
