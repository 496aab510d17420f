// SPDX-License-Identifier: Apache-2.0
// The calendar of Flink's SQL functions: julian days in 32 bits that wrap around, as Java's do, so that
// days beyond what the formulas are good for give the same numbers on both sides.
//
// The formulas are those of Apache Calcite's and Flink's DateTimeUtils, which Flink's generated code calls:
// the civil date of a day is the proleptic Gregorian one, while rounding to a unit follows the julian
// calendar before 15 October 1582 (Jean Meeus, Astronomical Algorithms, 1998).

#pragma once

#include "function/function.cuh"

namespace millrace {

// The same numbers as io.millrace.expression.function.temporal.DateTimeUnit.
enum DateTimeUnit : int32_t {
  MILLENNIUM,
  CENTURY,
  DECADE,
  YEAR,
  QUARTER,
  MONTH,
  WEEK,
  DAY,
  HOUR,
  MINUTE,
  SECOND,
  MILLISECOND,
  MICROSECOND,
  NANOSECOND,
  DAY_OF_YEAR,
  DAY_OF_WEEK,
  ISO_DAY_OF_WEEK,
  ISO_YEAR,
  EPOCH,
};

constexpr int64_t MILLIS_PER_SECOND = 1000;
constexpr int64_t MILLIS_PER_DAY = 86400000;
constexpr int32_t EPOCH_JULIAN = 2440588;

__device__ inline int32_t add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

__device__ inline int32_t subtract(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}

__device__ inline int32_t multiply(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}

__device__ inline int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

__device__ inline int64_t subtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

__device__ inline int64_t multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

template <typename Integer>
__device__ inline Integer floor_divide(Integer dividend, Integer divisor) {
  Integer quotient = dividend / divisor;
  return dividend % divisor < 0 ? quotient - 1 : quotient;
}

template <typename Integer>
__device__ inline Integer floor_modulo(Integer dividend, Integer divisor) {
  Integer remainder = dividend % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

__device__ inline int32_t power_of_ten(int32_t exponent) {
  int32_t power = 1;
  for (int32_t i = 0; i < exponent; i++) power *= 10;
  return power;
}

struct CivilDate {
  int32_t year;
  int32_t month;
  int32_t day;
};

__device__ inline CivilDate civil_date(int32_t julian) {
  int32_t days = add(julian, 32044);
  int32_t cycle = days / 146097;
  int32_t day_of_cycle = days % 146097;
  int32_t century = (day_of_cycle / 36524 + 1) * 3 / 4;
  int32_t day_of_century = day_of_cycle - century * 36524;
  int32_t leap_cycle = day_of_century / 1461;
  int32_t day_of_leap_cycle = day_of_century % 1461;
  int32_t year_of_leap_cycle = (day_of_leap_cycle / 365 + 1) * 3 / 4;
  int32_t day_of_year = day_of_leap_cycle - year_of_leap_cycle * 365;
  int32_t year = cycle * 400 + century * 100 + leap_cycle * 4 + year_of_leap_cycle;
  int32_t month = (day_of_year * 5 + 308) / 153 - 2;
  int32_t day = day_of_year - (month + 4) * 153 / 5 + 122;
  return {year - 4800 + (month + 2) / 12, (month + 2) % 12 + 1, day + 1};
}

__device__ inline int32_t julian_day(int32_t year, int32_t month, int32_t day) {
  int32_t before_march = (14 - month) / 12;
  int32_t y = add(year, 4800 - before_march);
  int32_t m = month + 12 * before_march - 3;
  int32_t result = add(day + (153 * m + 2) / 5, multiply(365, y));
  return subtract(add(subtract(add(result, y / 4), y / 100), y / 400), 32045);
}

__device__ inline int32_t epoch_day(int32_t year, int32_t month, int32_t day) {
  return subtract(julian_day(year, month, day), EPOCH_JULIAN);
}

__device__ inline int64_t first_monday(int32_t year) {
  int64_t january_first = julian_day(year, 1, 1);
  int64_t day_of_week = floor_modulo<int64_t>(january_first + 1, 7);
  return january_first + (11 - day_of_week) % 7 - 3;
}

__device__ inline int32_t iso_week(int32_t julian, CivilDate date) {
  int32_t day_of_week = floor_modulo(julian, 7) + 1;
  int32_t first_year = date.year;
  if (date.month == 12 && date.day > 28) {
    bool last_week =
        31 - date.day + 4 > 7 - day_of_week && 31 - date.day + day_of_week >= 4;
    if (!last_week) return 1;
  } else if (date.month == 1 && date.day < 5) {
    bool first_week = 4 - date.day <= 7 - day_of_week && date.day - day_of_week >= -3;
    if (first_week) return 1;
    first_year--;
  }
  return static_cast<int32_t>(julian - first_monday(first_year)) / 7 + 1;
}

// A unit of a date that is at least a day, or EPOCH; 0 for others.
static __device__ __noinline__ int64_t extract_of_date(DateTimeUnit unit, int32_t date) {
  if (unit == EPOCH) return date * int64_t{86400};
  int32_t julian = add(date, EPOCH_JULIAN);
  if (unit == DAY_OF_WEEK) return floor_modulo(add(julian, 1), 7) + 1;
  if (unit == ISO_DAY_OF_WEEK) return floor_modulo(julian, 7) + 1;
  CivilDate civil = civil_date(julian);
  int32_t year = civil.year;
  switch (unit) {
    case YEAR:
      return year;
    case QUARTER:
      return (civil.month + 2) / 3;
    case MONTH:
      return civil.month;
    case DAY:
      return civil.day;
    case WEEK:
      return iso_week(julian, civil);
    case ISO_YEAR: {
      int32_t week = iso_week(julian, civil);
      if (week == 1 && civil.month == 12) return year + 1;
      return civil.month == 1 && week > 50 ? year - 1 : year;
    }
    case DAY_OF_YEAR:
      return static_cast<int32_t>(julian - int64_t{julian_day(year, 1, 1)}) + 1;
    case DECADE:
      return year / 10;
    case CENTURY:
      return (year > 0 ? year + 99 : year - 99) / 100;
    case MILLENNIUM:
      return (year > 0 ? year + 999 : year - 999) / 1000;
    default:
      return 0;
  }
}

// The civil date of a julian day, in the julian calendar up to 4 October 1582.
__device__ inline CivilDate historical_date(int32_t julian) {
  int32_t century = 0;
  int32_t days = add(julian, 32082);
  if (julian > 2299160) {
    int32_t a = add(julian, 32044);
    century = add(multiply(4, a), 3) / 146097;
    days = subtract(a, century * 146097 / 4);
  }
  int32_t year = add(multiply(4, days), 3) / 1461;
  int32_t day_of_year = subtract(days, 1461 * year / 4);
  int32_t month = add(multiply(5, day_of_year), 2) / 153;
  int32_t day = subtract(day_of_year, (153 * month + 2) / 5) + 1;
  return {century * 100 + year - 4800 + month / 10, month + 3 - 12 * (month / 10), day};
}

__device__ inline int32_t first_of(int32_t years, int32_t year) {
  return years == 10 ? year / 10 * 10 : (year + years - 1) / years * years - years + 1;
}

__device__ inline int32_t years_of(DateTimeUnit unit) {
  return unit == MILLENNIUM ? 1000 : unit == CENTURY ? 100 : 10;
}

// The epoch day on which the unit (a day or more) of a julian day begins.
static __device__ __noinline__ int32_t floor_date(DateTimeUnit unit, int32_t julian) {
  CivilDate date = historical_date(julian);
  if (unit <= DECADE) date.year = first_of(years_of(unit), date.year);
  if (unit <= YEAR) date.month = 1;
  if (unit == QUARTER) date.month = (date.month + 2) / 3 * 3 - 2;
  if (unit <= MONTH) date.day = 1;
  int32_t day = epoch_day(date.year, date.month, date.day);
  return unit == WEEK ? subtract(day, floor_modulo(add(julian, 1), 7)) : day;
}

// As floor_date, where the next unit begins; a day, decade, century or millennium goes on to its next one
// even from its beginning, and a quarter from any day but the first of January.
static __device__ __noinline__ int32_t ceil_date(DateTimeUnit unit, int32_t julian) {
  CivilDate date = historical_date(julian);
  bool begins_year = date.month <= 1 && date.day <= 1;
  if (unit <= DECADE) date.year = first_of(years_of(unit), date.year) + years_of(unit);
  if (unit == YEAR && !begins_year) date.year++;
  if (unit <= YEAR) date.month = 1;
  if (unit == QUARTER) date.month = ((date.month + 2) / 3 + (begins_year ? 0 : 1)) * 3 - 2;
  if (unit == MONTH && date.day > 1) date.month++;
  if (unit <= MONTH) date.day = 1;
  int32_t day = epoch_day(date.year, date.month, date.day);
  if (unit == WEEK) {
    int32_t day_of_week = floor_modulo(add(julian, 1), 7);
    return day_of_week > 0 ? add(day, 7 - day_of_week) : day;
  }
  return unit == DAY ? add(day, 1) : day;
}

__device__ inline int32_t last_day_of_month(int32_t year, int32_t month) {
  if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

static __device__ __noinline__ int32_t add_months(int32_t date, int32_t months) {
  CivilDate civil = civil_date(add(date, EPOCH_JULIAN));
  int32_t month = add(civil.month, months);
  int32_t year = civil.year + floor_divide(month, 12);
  month = floor_modulo(month, 12);
  if (month == 0) {
    year--;
    month = 12;
  }
  int32_t last = last_day_of_month(year, month);
  return epoch_day(year, month, civil.day > last ? last : civil.day);
}

__device__ inline int64_t add_months(int64_t millis, int32_t months) {
  int64_t of_day = floor_modulo(millis, MILLIS_PER_DAY);
  int64_t day = add_months(static_cast<int32_t>(subtract(millis, of_day) / MILLIS_PER_DAY), months);
  return add(multiply(day, MILLIS_PER_DAY), of_day);
}

// Whole months between two dates.
__device__ inline int32_t subtract_months(int32_t minuend, int32_t subtrahend) {
  int32_t later = minuend < subtrahend ? subtrahend : minuend;
  int32_t earlier = minuend < subtrahend ? minuend : subtrahend;
  CivilDate to = civil_date(add(later, EPOCH_JULIAN));
  CivilDate from = civil_date(add(earlier, EPOCH_JULIAN));
  int32_t months = (to.year - from.year) * 12 + to.month - from.month;
  if (add_months(earlier, months) > later) months--;
  return minuend < subtrahend ? -months : months;
}

// The civil date of any day, as java.time has it.
static __device__ __noinline__ CivilDate civil_date_of_epoch_day(int64_t day) {
  int64_t cycle = floor_divide<int64_t>(day, 146097);
  CivilDate date = civil_date(static_cast<int32_t>(day - cycle * 146097) + EPOCH_JULIAN);
  date.year += static_cast<int32_t>(cycle) * 400;
  return date;
}

__device__ inline int64_t epoch_day_of_civil_date(CivilDate date) {
  int32_t cycle = floor_divide(date.year, 400);
  return epoch_day(date.year - cycle * 400, date.month, date.day) + cycle * int64_t{146097};
}

}  // namespace millrace
