// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

/**
 * The calendar of Flink's SQL functions: Julian day numbers of 32 bits that wrap around. The twin
 * of {@code datetime_calendar.cuh}. The formulas are from {@code DateTimeUtils} of Apache Calcite
 * and Flink, which Flink's generated code calls: the civil date of a day is proleptic Gregorian,
 * while rounding to a unit follows the Julian calendar before 15 October 1582 (Jean Meeus,
 * Astronomical Algorithms, 1998).
 */
final class JulianCalendar {
  static final int EPOCH_JULIAN = 2_440_588;

  /** A calendar date. Far from the common era the fields may not form a valid date. */
  record CivilDate(int year, int month, int day) {

    boolean isValid() {
      return month >= 1 && month <= 12 && day >= 1 && day <= lastDayOfMonth(year, month);
    }
  }

  private JulianCalendar() {}

  static CivilDate civilDate(int julian) {
    int days = julian + 32_044;
    int cycle = days / 146_097;
    int dayOfCycle = days % 146_097;
    int century = (dayOfCycle / 36_524 + 1) * 3 / 4;
    int dayOfCentury = dayOfCycle - century * 36_524;
    int leapCycle = dayOfCentury / 1_461;
    int dayOfLeapCycle = dayOfCentury % 1_461;
    int yearOfLeapCycle = (dayOfLeapCycle / 365 + 1) * 3 / 4;
    int dayOfYear = dayOfLeapCycle - yearOfLeapCycle * 365;
    int year = cycle * 400 + century * 100 + leapCycle * 4 + yearOfLeapCycle;
    int month = (dayOfYear * 5 + 308) / 153 - 2;
    int day = dayOfYear - (month + 4) * 153 / 5 + 122;
    return new CivilDate(year - 4_800 + (month + 2) / 12, (month + 2) % 12 + 1, day + 1);
  }

  static int epochDay(int year, int month, int day) {
    return julianDay(year, month, day) - EPOCH_JULIAN;
  }

  private static int julianDay(int year, int month, int day) {
    int beforeMarch = (14 - month) / 12;
    int y = year + 4_800 - beforeMarch;
    int m = month + 12 * beforeMarch - 3;
    return day + (153 * m + 2) / 5 + 365 * y + y / 4 - y / 100 + y / 400 - 32_045;
  }

  private static long firstMonday(int year) {
    long januaryFirst = julianDay(year, 1, 1);
    return januaryFirst + (11 - Math.floorMod(januaryFirst + 1, 7)) % 7 - 3;
  }

  private static int isoWeek(int julian, CivilDate date) {
    int dayOfWeek = Math.floorMod(julian, 7) + 1;
    int firstYear = date.year();
    if (date.month() == 12 && date.day() > 28) {
      boolean lastWeek = 31 - date.day() + 4 > 7 - dayOfWeek && 31 - date.day() + dayOfWeek >= 4;
      if (!lastWeek) {
        return 1;
      }
    } else if (date.month() == 1 && date.day() < 5) {
      boolean firstWeek = 4 - date.day() <= 7 - dayOfWeek && date.day() - dayOfWeek >= -3;
      if (firstWeek) {
        return 1;
      }
      firstYear--;
    }
    return (int) (julian - firstMonday(firstYear)) / 7 + 1;
  }

  /** Extracts EPOCH or a unit of at least a day. */
  static long extract(DateTimeUnit unit, int date) {
    int julian = date + EPOCH_JULIAN;
    CivilDate civil = civilDate(julian);
    int year = civil.year();
    return switch (unit) {
      case EPOCH -> date * 86_400L;
      case DAY_OF_WEEK -> Math.floorMod(julian + 1, 7) + 1;
      case ISO_DAY_OF_WEEK -> Math.floorMod(julian, 7) + 1;
      case YEAR -> year;
      case QUARTER -> (civil.month() + 2) / 3;
      case MONTH -> civil.month();
      case DAY -> civil.day();
      case WEEK -> isoWeek(julian, civil);
      case ISO_YEAR -> isoYear(isoWeek(julian, civil), civil);
      case DAY_OF_YEAR -> (int) (julian - (long) julianDay(year, 1, 1)) + 1;
      case DECADE -> year / 10;
      case CENTURY -> (year > 0 ? year + 99 : year - 99) / 100;
      case MILLENNIUM -> (year > 0 ? year + 999 : year - 999) / 1_000;
      default -> throw new IllegalArgumentException("expected a unit of a date, got " + unit);
    };
  }

  private static int isoYear(int week, CivilDate date) {
    if (week == 1 && date.month() == 12) {
      return date.year() + 1;
    }
    return date.month() == 1 && week > 50 ? date.year() - 1 : date.year();
  }

  private static CivilDate historicalDate(int julian) {
    int century = 0;
    int days = julian + 32_082;
    if (julian > 2_299_160) {
      int a = julian + 32_044;
      century = (4 * a + 3) / 146_097;
      days = a - century * 146_097 / 4;
    }
    int year = (4 * days + 3) / 1_461;
    int dayOfYear = days - 1_461 * year / 4;
    int month = (5 * dayOfYear + 2) / 153;
    int day = dayOfYear - (153 * month + 2) / 5 + 1;
    return new CivilDate(
        century * 100 + year - 4_800 + month / 10, month + 3 - 12 * (month / 10), day);
  }

  private static int firstOf(int years, int year) {
    return years == 10 ? year / 10 * 10 : (year + years - 1) / years * years - years + 1;
  }

  /** The epoch day on which the unit (at least a day) that contains a Julian day starts. */
  static int floor(DateTimeUnit unit, int julian) {
    CivilDate date = historicalDate(julian);
    int year = date.year();
    return switch (unit) {
      case MILLENNIUM, CENTURY, DECADE -> epochDay(firstOf(unit.size() / 12, year), 1, 1);
      case YEAR -> epochDay(year, 1, 1);
      case QUARTER -> epochDay(year, (date.month() + 2) / 3 * 3 - 2, 1);
      case MONTH -> epochDay(year, date.month(), 1);
      case WEEK -> epochDay(year, date.month(), date.day()) - Math.floorMod(julian + 1, 7);
      default -> epochDay(year, date.month(), date.day());
    };
  }

  /**
   * The start of the next unit, like {@link #floor}. Days, decades, centuries and millennia advance
   * even from their first day, and quarters from any day but 1 January.
   */
  static int ceil(DateTimeUnit unit, int julian) {
    CivilDate date = historicalDate(julian);
    int year = date.year();
    boolean beginsYear = date.month() <= 1 && date.day() <= 1;
    return switch (unit) {
      case MILLENNIUM, CENTURY, DECADE ->
          epochDay(firstOf(unit.size() / 12, year) + unit.size() / 12, 1, 1);
      case YEAR -> epochDay(beginsYear ? year : year + 1, 1, 1);
      case QUARTER -> epochDay(year, ((date.month() + 2) / 3 + (beginsYear ? 0 : 1)) * 3 - 2, 1);
      case MONTH -> epochDay(year, date.day() > 1 ? date.month() + 1 : date.month(), 1);
      case WEEK -> {
        int dayOfWeek = Math.floorMod(julian + 1, 7);
        yield epochDay(year, date.month(), date.day()) + (dayOfWeek > 0 ? 7 - dayOfWeek : 0);
      }
      default -> epochDay(year, date.month(), date.day()) + 1;
    };
  }

  static int lastDayOfMonth(int year, int month) {
    return switch (month) {
      case 2 -> year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
      case 4, 6, 9, 11 -> 30;
      default -> 31;
    };
  }

  /** Adds months; if the resulting month is too short, returns its last day. */
  static int addMonths(int date, int months) {
    CivilDate civil = civilDate(date + EPOCH_JULIAN);
    int sum = civil.month() + months;
    int year = civil.year() + Math.floorDiv(sum, 12);
    int month = Math.floorMod(sum, 12);
    if (month == 0) {
      year--;
      month = 12;
    }
    return epochDay(year, month, Math.min(civil.day(), lastDayOfMonth(year, month)));
  }

  /** Difference of two dates in whole months. */
  static int subtractMonths(int minuend, int subtrahend) {
    if (minuend < subtrahend) {
      return -subtractMonths(subtrahend, minuend);
    }
    CivilDate to = civilDate(minuend + EPOCH_JULIAN);
    CivilDate from = civilDate(subtrahend + EPOCH_JULIAN);
    int months = (to.year() - from.year()) * 12 + to.month() - from.month();
    return addMonths(subtrahend, months) > minuend ? months - 1 : months;
  }

  /** The civil date of any epoch day, as in java.time. */
  static CivilDate civilDateOfEpochDay(long day) {
    long cycle = Math.floorDiv(day, 146_097L);
    CivilDate date = civilDate((int) (day - cycle * 146_097) + EPOCH_JULIAN);
    return new CivilDate(date.year() + (int) cycle * 400, date.month(), date.day());
  }

  static long epochDayOfCivilDate(CivilDate date) {
    int cycle = Math.floorDiv(date.year(), 400);
    return epochDay(date.year() - cycle * 400, date.month(), date.day()) + cycle * 146_097L;
  }
}
