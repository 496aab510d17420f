// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import static io.millrace.expression.function.temporal.JulianCalendar.EPOCH_JULIAN;

/**
 * Arithmetic of dates, times and timestamps; the twin of {@code datetime.cu}. Timestamps are
 * milliseconds since 1970-01-01T00:00, with nanoseconds of the millisecond where needed. Times are
 * milliseconds of the day, dates are days. Overflow wraps.
 */
final class DateTimeArithmetic {
  static final long MILLIS_PER_DAY = 86_400_000;

  private static final long MILLIS_PER_SECOND = 1_000;
  private static final long MICROS_PER_MILLI = 1_000;
  private static final int[] POWERS_OF_TEN = {
    1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000
  };

  private DateTimeArithmetic() {}

  static int powerOfTen(int exponent) {
    return POWERS_OF_TEN[exponent];
  }

  static int epochDayOf(long millis) {
    return (int) Math.floorDiv(millis, MILLIS_PER_DAY);
  }

  /** Extracts a unit from a DATE or from the milliseconds of a TIME. */
  static long extractFromDate(DateTimeUnit unit, int date) {
    return unit.isOfDay() ? extractOfDay(unit, date) : JulianCalendar.extract(unit, date);
  }

  /** Extracts a unit other than MICROSECOND and NANOSECOND from a timestamp. */
  static long extract(DateTimeUnit unit, long millis) {
    if (unit.isOfDay()) {
      return extractOfDay(unit, millis);
    }
    return unit == DateTimeUnit.EPOCH
        ? millis / MILLIS_PER_SECOND
        : JulianCalendar.extract(unit, (int) (millis / MILLIS_PER_DAY));
  }

  private static long extractOfDay(DateTimeUnit unit, long number) {
    return switch (unit) {
      case HOUR -> number % 86_400_000 / 3_600_000;
      case MINUTE -> number % 3_600_000 / 60_000;
      case SECOND -> number % 60_000 / 1_000;
      default -> number % 1_000;
    };
  }

  /** Extracts MICROSECOND or NANOSECOND of the second. */
  static long extractFraction(DateTimeUnit unit, long millis, long nanos) {
    long ofSecond = millis % MILLIS_PER_SECOND;
    return unit == DateTimeUnit.MICROSECOND
        ? ofSecond * 1_000 + nanos / 1_000
        : ofSecond * 1_000_000 + nanos;
  }

  static int floorDate(DateTimeUnit unit, int date) {
    return JulianCalendar.floor(unit, date + EPOCH_JULIAN);
  }

  static int ceilDate(DateTimeUnit unit, int date) {
    return JulianCalendar.ceil(unit, date + EPOCH_JULIAN);
  }

  static int floorTime(DateTimeUnit unit, int time) {
    return time - Math.floorMod(time, unit.size());
  }

  static int ceilTime(DateTimeUnit unit, int time) {
    int remainder = time % unit.size();
    return time - (remainder > 0 ? remainder - unit.size() : remainder);
  }

  static long floor(DateTimeUnit unit, long millis) {
    return unit.compareTo(DateTimeUnit.DAY) < 0
        ? JulianCalendar.floor(unit, julianOf(millis)) * MILLIS_PER_DAY
        : millis - Math.floorMod(millis, unit.size());
  }

  static long ceil(DateTimeUnit unit, long millis) {
    if (unit.compareTo(DateTimeUnit.DAY) < 0) {
      return JulianCalendar.ceil(unit, julianOf(millis)) * MILLIS_PER_DAY;
    }
    long last = millis + unit.size() - 1;
    return last - Math.floorMod(last, unit.size());
  }

  /** Applies {@link #floor} to an instant in a time zone. */
  static long floor(DateTimeUnit unit, long instant, ZoneOffsetTable zone) {
    long offset = zone.offset(instant);
    return floor(unit, instant + offset) - offset;
  }

  /** Applies {@link #ceil} to an instant in a time zone. */
  static long ceil(DateTimeUnit unit, long instant, ZoneOffsetTable zone) {
    long offset = zone.offset(instant);
    long local = instant + offset;
    if (unit.compareTo(DateTimeUnit.DAY) < 0) {
      return ceil(unit, local) - offset;
    }
    long remainder = local % unit.size();
    return local - remainder + (remainder > 0 ? unit.size() : 0) - offset;
  }

  private static int julianOf(long millis) {
    return (int) (millis / MILLIS_PER_DAY + EPOCH_JULIAN);
  }

  static long addMonths(long millis, int months) {
    long ofDay = Math.floorMod(millis, MILLIS_PER_DAY);
    int day = (int) ((millis - ofDay) / MILLIS_PER_DAY);
    return JulianCalendar.addMonths(day, months) * MILLIS_PER_DAY + ofDay;
  }

  /** The time of day after adding an interval, modulo one day. */
  static long addToTime(long time, long interval) {
    return (time + MILLIS_PER_DAY + interval % MILLIS_PER_DAY) % MILLIS_PER_DAY;
  }

  /** Difference in whole units of a week or less, truncated to 32 bits. */
  static int difference(DateTimeUnit unit, long from, long to) {
    long millis = to - from;
    return switch (unit) {
      case WEEK -> (int) (millis / 1_000) / 604_800;
      case MILLISECOND -> (int) (millis / 1_000) * 1_000;
      case MICROSECOND -> (int) (millis / 1_000) * 1_000_000;
      default -> (int) (millis / unit.size());
    };
  }

  /** Difference in whole seconds, expressed in nanoseconds. */
  static long differenceInNanos(long from, long to) {
    return (to - from) / 1_000 * 1_000_000_000;
  }

  /** Difference in whole months, divided by {@code divisor}. */
  static int differenceInMonths(long from, long to, int divisor) {
    int fromDay = epochDayOf(from);
    int toDay = epochDayOf(to);
    int months = JulianCalendar.subtractMonths(toDay, fromDay);
    boolean isBefore = Math.floorMod(to, MILLIS_PER_DAY) < Math.floorMod(from, MILLIS_PER_DAY);
    if (isBefore && JulianCalendar.addMonths(fromDay, months) == toDay) {
      months--;
    }
    return months / divisor;
  }

  static long localTime(long instant, ZoneOffsetTable zone) {
    return instant + zone.offset(instant);
  }

  /** The instant of a local time; its day number wraps to 32 bits. */
  static long instant(long localTime, ZoneOffsetTable zone) {
    long millis = epochDayOf(localTime) * MILLIS_PER_DAY + Math.floorMod(localTime, MILLIS_PER_DAY);
    return millis - zone.offset(millis);
  }

  /** The local day of an instant; see {@link #localMillisOfDay} for the rest. */
  static long localDay(long instant, ZoneOffsetTable zone) {
    long millis = Math.floorMod(instant, MILLIS_PER_DAY) + zone.offset(instant);
    return Math.floorDiv(instant, MILLIS_PER_DAY) + Math.floorDiv(millis, MILLIS_PER_DAY);
  }

  static int localMillisOfDay(long instant, ZoneOffsetTable zone) {
    long millis = Math.floorMod(instant, MILLIS_PER_DAY) + zone.offset(instant);
    return (int) Math.floorMod(millis, MILLIS_PER_DAY);
  }

  static int instantToDate(long instant, ZoneOffsetTable zone) {
    JulianCalendar.CivilDate date = JulianCalendar.civilDateOfEpochDay(localDay(instant, zone));
    return JulianCalendar.epochDay(date.year(), date.month(), date.day());
  }

  static long millisOfMicros(long micros) {
    return Math.floorDiv(micros, MICROS_PER_MILLI);
  }

  static int nanosOfMicros(long micros) {
    return (int) Math.floorMod(micros, MICROS_PER_MILLI) * 1_000;
  }

  /** Whether the microseconds fit 64 bits. */
  static boolean fitsMicros(long millis, int nanos) {
    return millis >= Long.MIN_VALUE / MICROS_PER_MILLI - 1
        && millis <= Long.MAX_VALUE / MICROS_PER_MILLI
        && micros(millis, nanos) < 0 == millis < 0;
  }

  static long micros(long millis, int nanos) {
    return millis * MICROS_PER_MILLI + nanos / 1_000;
  }

  static int nanosOfSecond(long millis, int nanos) {
    return (int) Math.floorMod(millis, MILLIS_PER_SECOND) * 1_000_000 + nanos;
  }

  /**
   * Whether a time needs no truncation to a precision: its nanoseconds of the second have no more
   * digits than {@code precision}, whatever the digits mean.
   */
  private static boolean isPrecise(long millis, int nanos, int precision) {
    return nanosOfSecond(millis, nanos) < powerOfTen(precision);
  }

  /** The milliseconds of a time truncated to a precision. */
  static long truncateMillis(long millis, int nanos, int precision) {
    return precision > 3 || isPrecise(millis, nanos, precision)
        ? millis
        : withoutLastDigits(millis, 3 - precision);
  }

  /** The nanoseconds of the millisecond of a time truncated to a precision. */
  static int truncateNanos(long millis, int nanos, int precision) {
    if (isPrecise(millis, nanos, precision)) {
      return nanos;
    }
    return precision <= 3 ? 0 : (int) withoutLastDigits(nanos, 9 - precision);
  }

  private static long withoutLastDigits(long value, int digits) {
    return value / powerOfTen(digits) * powerOfTen(digits);
  }
}
