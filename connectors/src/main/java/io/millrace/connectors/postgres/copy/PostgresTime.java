// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.copy;

/**
 * Dates and timestamps as PostgreSQL counts them, from 2000-01-01. Its smallest and largest numbers
 * are the infinities, which columns do not have.
 */
final class PostgresTime {
  private static final int EPOCH_DAY = 10_957;
  private static final long EPOCH_MICROS = EPOCH_DAY * 86_400_000_000L;
  private static final int MIN_DAY = -2_451_545;
  private static final int MAX_DAY = 2_145_031_948;
  private static final long MIN_MICROS = -211_813_488_000_000_000L;
  private static final long MAX_MICROS = 9_223_371_331_199_999_999L;

  private PostgresTime() {}

  /**
   * PostgreSQL's number of a day.
   *
   * @param epochDay days since 1970-01-01
   * @throws IllegalArgumentException if it is before 4714-11-24 BC or after 5874897-12-31
   */
  static int day(int epochDay) {
    long day = (long) epochDay - EPOCH_DAY;
    if (day < MIN_DAY || day > MAX_DAY) {
      throw new IllegalArgumentException(
          "the date " + epochDay + " days from 1970-01-01 is out of the range of PostgreSQL");
    }
    return (int) day;
  }

  /**
   * PostgreSQL's number of a time.
   *
   * @param epochMicros microseconds since 1970-01-01
   * @throws IllegalArgumentException if it is before 4714-11-24 BC or in 294277 or later
   */
  static long micros(long epochMicros) {
    long micros = epochMicros - EPOCH_MICROS;
    if (epochMicros < MIN_MICROS + EPOCH_MICROS || micros > MAX_MICROS) {
      throw new IllegalArgumentException(
          "the time "
              + epochMicros
              + " microseconds from 1970-01-01 is out of the range of PostgreSQL");
    }
    return micros;
  }

  /**
   * PostgreSQL's number of a time.
   *
   * @param epochMillis milliseconds since 1970-01-01
   * @throws IllegalArgumentException as {@link #micros}
   */
  static long microsOfMillis(long epochMillis) {
    if (Math.abs(epochMillis) > Long.MAX_VALUE / 1000 || epochMillis == Long.MIN_VALUE) {
      throw new IllegalArgumentException(
          "the time "
              + epochMillis
              + " milliseconds from 1970-01-01 is out of the range of PostgreSQL");
    }
    return micros(epochMillis * 1000);
  }

  /**
   * Days since 1970-01-01.
   *
   * @throws IllegalArgumentException if {@code day} stands for an infinity
   */
  static int epochDay(int day) {
    if (day == Integer.MIN_VALUE || day == Integer.MAX_VALUE) {
      throw new IllegalArgumentException("a DATE cannot be infinite");
    }
    return day + EPOCH_DAY;
  }

  /**
   * Microseconds since 1970-01-01.
   *
   * @throws IllegalArgumentException if {@code micros} stands for an infinity, or the result has
   *     more than 64 bits
   */
  static long epochMicros(long micros) {
    if (micros == Long.MIN_VALUE || micros == Long.MAX_VALUE) {
      throw new IllegalArgumentException("a TIMESTAMP cannot be infinite");
    }
    if (micros > Long.MAX_VALUE - EPOCH_MICROS) {
      throw new IllegalArgumentException("the year of a TIMESTAMP cannot be 294247 or later");
    }
    return micros + EPOCH_MICROS;
  }
}
