// SPDX-License-Identifier: Apache-2.0
// Functions of dates, times and timestamps, with the results of the code that Flink generates.
//
// Timestamps are milliseconds, which lose nothing that a function asks for, or milliseconds and nanoseconds
// of the millisecond. Those with a time zone become local times first.

#include "datetime_timestamp.cuh"

using namespace millrace;

// EXTRACT. The unit is a DateTimeUnit.

// Of a DATE, or of a TIME's milliseconds.
MILLRACE_FUNCTION int64_t extract_from_date(int32_t date, int32_t unit) {
  DateTimeUnit field = static_cast<DateTimeUnit>(unit);
  return is_time_unit(field) ? extract_of_day(field, date) : extract_of_date(field, date);
}

MILLRACE_FUNCTION int64_t extract_from_timestamp(int64_t millis, int32_t unit) {
  DateTimeUnit field = static_cast<DateTimeUnit>(unit);
  if (is_time_unit(field)) return extract_of_day(field, millis);
  if (field == EPOCH) return millis / MILLIS_PER_SECOND;
  return extract_of_date(field, static_cast<int32_t>(millis / MILLIS_PER_DAY));
}

// Microseconds or nanoseconds of the second.
MILLRACE_FUNCTION int64_t extract_fraction(int64_t millis, int32_t nanos, int32_t unit) {
  int64_t of_second = millis % MILLIS_PER_SECOND;
  return unit == MICROSECOND ? of_second * 1000 + nanos / 1000 : of_second * 1000000 + nanos;
}

// FLOOR and CEIL.

MILLRACE_FUNCTION int32_t floor_date_to(int32_t date, int32_t unit) {
  return floor_date(static_cast<DateTimeUnit>(unit), add(date, EPOCH_JULIAN));
}

MILLRACE_FUNCTION int32_t ceil_date_to(int32_t date, int32_t unit) {
  return ceil_date(static_cast<DateTimeUnit>(unit), add(date, EPOCH_JULIAN));
}

MILLRACE_FUNCTION int32_t floor_time_to(int32_t time, int32_t unit) {
  int32_t step = static_cast<int32_t>(millis_of(static_cast<DateTimeUnit>(unit)));
  return subtract(time, floor_modulo(time, step));
}

// The digits below the unit cut, towards midnight.
MILLRACE_FUNCTION int32_t truncate_time(int32_t time, int32_t unit) { return time - time % unit; }

MILLRACE_FUNCTION int32_t ceil_time_to(int32_t time, int32_t unit) {
  int32_t step = static_cast<int32_t>(millis_of(static_cast<DateTimeUnit>(unit)));
  int32_t remainder = time % step;
  return subtract(time, remainder > 0 ? remainder - step : remainder);
}

MILLRACE_FUNCTION int64_t floor_timestamp_to(int64_t millis, int32_t unit) {
  DateTimeUnit field = static_cast<DateTimeUnit>(unit);
  return is_date_unit(field) ? floor_date(field, julian_of(millis)) * MILLIS_PER_DAY
                             : floor_to(millis, millis_of(field));
}

MILLRACE_FUNCTION int64_t ceil_timestamp_to(int64_t millis, int32_t unit) {
  DateTimeUnit field = static_cast<DateTimeUnit>(unit);
  if (is_date_unit(field)) return ceil_date(field, julian_of(millis)) * MILLIS_PER_DAY;
  int64_t step = millis_of(field);
  return floor_to(add(millis, step - 1), step);
}

// To the millisecond.
MILLRACE_FUNCTION int64_t ceil_nanos(int64_t millis, int32_t nanos) {
  return add(millis, int64_t{nanos > 0});
}

MILLRACE_FUNCTION int64_t floor_instant_to(int64_t millis, int32_t unit, const char* zone) {
  DateTimeUnit field = static_cast<DateTimeUnit>(unit);
  int64_t offset = zone_offset(zone, millis);
  int64_t local = add(millis, offset);
  int64_t floor = is_date_unit(field) ? floor_date(field, julian_of(local)) * MILLIS_PER_DAY
                                      : floor_to(local, millis_of(field));
  return subtract(floor, offset);
}

MILLRACE_FUNCTION int64_t ceil_instant_to(int64_t millis, int32_t unit, const char* zone) {
  DateTimeUnit field = static_cast<DateTimeUnit>(unit);
  int64_t offset = zone_offset(zone, millis);
  int64_t local = add(millis, offset);
  if (is_date_unit(field)) {
    return subtract(ceil_date(field, julian_of(local)) * MILLIS_PER_DAY, offset);
  }
  int64_t step = millis_of(field);
  int64_t remainder = local % step;
  int64_t ceil = add(subtract(local, remainder), remainder > 0 ? step : 0);
  return subtract(ceil, offset);
}

// TIMESTAMPADD and TIMESTAMPDIFF.

MILLRACE_FUNCTION int32_t add_months_to_date(int32_t date, int32_t months) {
  return add_months(date, months);
}

MILLRACE_FUNCTION int64_t add_months_to_timestamp(int64_t millis, int32_t months) {
  return add_months(millis, months);
}

MILLRACE_FUNCTION Timestamp add_months_to_nanos(int64_t millis, int32_t nanos, int32_t months) {
  return {add_months(millis, months), nanos};
}

// Fails if the days of the interval are more than 32 bits hold.
MILLRACE_FUNCTION Outcome<int32_t> add_days_to_date(int32_t date, int64_t interval) {
  int64_t days = interval / MILLIS_PER_DAY;
  if (days != static_cast<int32_t>(days)) return none<int32_t>(INVALID_ARGUMENT);
  return value(add(date, static_cast<int32_t>(days)));
}

// The time of day that the clock shows after the interval.
MILLRACE_FUNCTION int32_t add_to_time(int32_t time, int64_t interval) {
  return static_cast<int32_t>((time + MILLIS_PER_DAY + interval % MILLIS_PER_DAY) % MILLIS_PER_DAY);
}

MILLRACE_FUNCTION Timestamp add_to_nanos(int64_t millis, int32_t nanos, int64_t interval) {
  return {add(millis, interval), nanos};
}

// Whole units, months or less, from one time to another, as an int: larger differences wrap.
MILLRACE_FUNCTION int32_t difference_in_units(int64_t from, int64_t to, int32_t unit) {
  int64_t millis = subtract(to, from);
  switch (static_cast<DateTimeUnit>(unit)) {
    case WEEK:
      return static_cast<int32_t>(millis / 1000) / 604800;
    case MILLISECOND:
      return multiply(static_cast<int32_t>(millis / 1000), 1000);
    case MICROSECOND:
      return multiply(static_cast<int32_t>(millis / 1000), 1000000);
    default:
      return static_cast<int32_t>(millis / millis_of(static_cast<DateTimeUnit>(unit)));
  }
}

// Whole seconds from one time to another, in nanoseconds.
MILLRACE_FUNCTION int64_t difference_in_nanos(int64_t from, int64_t to) {
  return multiply(subtract(to, from) / 1000, int64_t{1000000000});
}

// Whole months from one time to another, divided.
MILLRACE_FUNCTION int32_t difference_in_months(int64_t from, int64_t to, int32_t divisor) {
  int32_t from_day = static_cast<int32_t>(floor_divide(from, MILLIS_PER_DAY));
  int32_t to_day = static_cast<int32_t>(floor_divide(to, MILLIS_PER_DAY));
  int32_t months = subtract_months(to_day, from_day);
  bool is_before = floor_modulo(to, MILLIS_PER_DAY) < floor_modulo(from, MILLIS_PER_DAY);
  if (is_before && add_months(from_day, months) == to_day) months--;
  return months / divisor;
}

// Time zones.

MILLRACE_FUNCTION int64_t local_time_of_millis(int64_t instant, const char* zone) {
  return local_time(instant, zone);
}

MILLRACE_FUNCTION int64_t local_time_of_micros(int64_t instant, const char* zone) {
  return add(instant, zone_offset(zone, of_micros(instant).millis) * MICROS_PER_MILLI);
}

MILLRACE_FUNCTION Timestamp local_time_of_nanos(int64_t millis, int32_t nanos, const char* zone) {
  return {local_time(millis, zone), nanos};
}

MILLRACE_FUNCTION int64_t instant_of_millis(int64_t local_time, const char* zone) {
  return instant(local_time, zone);
}

MILLRACE_FUNCTION int64_t instant_of_micros(int64_t local_time, const char* zone) {
  return subtract(local_time, zone_offset(zone, of_micros(local_time).millis) * MICROS_PER_MILLI);
}

MILLRACE_FUNCTION Timestamp instant_of_nanos(int64_t millis, int32_t nanos, const char* zone) {
  return {instant(millis, zone), nanos};
}

MILLRACE_FUNCTION int32_t instant_to_date(int64_t instant, const char* zone) {
  CivilDate date = civil_date_of_epoch_day(local_day(instant, zone).day);
  return epoch_day(date.year, date.month, date.day);
}

MILLRACE_FUNCTION int32_t instant_to_time(int64_t instant, const char* zone) {
  return local_day(instant, zone).millis_of_day;
}

// Fails for a date before the first julian day, if the calendar has none there.
MILLRACE_FUNCTION Outcome<int64_t> date_to_instant(int32_t date, const char* zone) {
  CivilDate civil = civil_date(add(date, EPOCH_JULIAN));
  if (civil.month < 1 || civil.month > 12 || civil.day < 1 ||
      civil.day > last_day_of_month(civil.year, civil.month)) {
    return none<int64_t>(INVALID_ARGUMENT);
  }
  int64_t local = epoch_day_of_civil_date(civil) * MILLIS_PER_DAY;
  return value(local - zone_offset(zone, local));
}

// Casts between dates, times and timestamps. A precision of 9 cuts nothing.

MILLRACE_FUNCTION int64_t date_to_timestamp(int32_t date) {
  return date * MILLIS_PER_DAY;
}

MILLRACE_FUNCTION int64_t time_to_timestamp(int32_t time) {
  return time;
}

MILLRACE_FUNCTION int32_t timestamp_to_date(int64_t millis) {
  return static_cast<int32_t>(millis / MILLIS_PER_DAY);
}

MILLRACE_FUNCTION int32_t timestamp_to_time(int64_t millis) {
  return static_cast<int32_t>(millis % MILLIS_PER_DAY);
}

MILLRACE_FUNCTION int64_t millis_to_millis(int64_t millis, int32_t precision) {
  return truncate({millis, 0}, precision).millis;
}

MILLRACE_FUNCTION Outcome<int64_t> millis_to_micros(int64_t millis) {
  return as_micros({millis, 0});
}

MILLRACE_FUNCTION Timestamp millis_to_nanos(int64_t millis) {
  return {millis, 0};
}

MILLRACE_FUNCTION int64_t micros_to_millis(int64_t micros, int32_t precision) {
  return truncate(of_micros(micros), precision).millis;
}

MILLRACE_FUNCTION Outcome<int64_t> micros_to_micros(int64_t micros, int32_t precision) {
  return as_micros(truncate(of_micros(micros), precision));
}

MILLRACE_FUNCTION Timestamp micros_to_nanos(int64_t micros) {
  return of_micros(micros);
}

MILLRACE_FUNCTION int64_t nanos_to_millis(int64_t millis, int32_t nanos, int32_t precision) {
  return truncate({millis, nanos}, precision).millis;
}

MILLRACE_FUNCTION Outcome<int64_t> nanos_to_micros(int64_t millis, int32_t nanos, int32_t precision) {
  return as_micros(truncate({millis, nanos}, precision));
}

MILLRACE_FUNCTION Timestamp nanos_to_nanos(int64_t millis, int32_t nanos, int32_t precision) {
  return truncate({millis, nanos}, precision);
}
