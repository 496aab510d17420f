// SPDX-License-Identifier: Apache-2.0
// Timestamps: milliseconds since 1970-01-01T00:00 and nanoseconds of the millisecond, and their parts.

#pragma once

#include "datetime_zone.cuh"

namespace millrace {

constexpr int64_t MICROS_PER_MILLI = 1000;

__device__ inline Timestamp of_micros(int64_t micros) {
  int64_t millis = floor_divide(micros, MICROS_PER_MILLI);
  return {millis, static_cast<int32_t>(floor_modulo(micros, MICROS_PER_MILLI)) * 1000};
}

// Fails if 64 bits do not hold them.
__device__ inline Outcome<int64_t> as_micros(Timestamp time) {
  constexpr int64_t MINIMUM = INT64_MIN / MICROS_PER_MILLI - 1;
  constexpr int64_t MAXIMUM = INT64_MAX / MICROS_PER_MILLI;
  if (time.millis < MINIMUM || time.millis > MAXIMUM) return none<int64_t>(INVALID_ARGUMENT);
  int64_t micros = add(multiply(time.millis, MICROS_PER_MILLI), int64_t{time.nanos / 1000});
  if ((micros < 0) != (time.millis < 0)) return none<int64_t>(INVALID_ARGUMENT);
  return value(micros);
}

__device__ inline int64_t without_last_digits(int64_t value, int32_t digits) {
  int64_t power = power_of_ten(digits);
  return value / power * power;
}

__device__ inline int32_t nanos_of_second(Timestamp time) {
  return add(static_cast<int32_t>(floor_modulo(time.millis, MILLIS_PER_SECOND)) * 1000000, time.nanos);
}

// A time whose nanoseconds of the second have no more digits than the precision stays as it is, whatever
// they mean.
static __device__ __noinline__ Timestamp truncate(Timestamp time, int32_t precision) {
  if (nanos_of_second(time) < power_of_ten(precision)) return time;
  if (precision <= 3) return {without_last_digits(time.millis, 3 - precision), 0};
  return {time.millis, static_cast<int32_t>(without_last_digits(time.nanos, 9 - precision))};
}

__device__ inline int64_t local_time(int64_t instant, const char* zone) {
  return add(instant, zone_offset(zone, instant));
}

// The instant of a local time, whose days are those of 32 bits.
__device__ inline int64_t instant(int64_t local_time, const char* zone) {
  int32_t day = static_cast<int32_t>(floor_divide(local_time, MILLIS_PER_DAY));
  int64_t millis = day * MILLIS_PER_DAY + floor_modulo(local_time, MILLIS_PER_DAY);
  return millis - zone_offset(zone, millis);
}

struct LocalDay {
  int64_t day;
  int32_t millis_of_day;
};

__device__ inline LocalDay local_day(int64_t instant, const char* zone) {
  int64_t day = floor_divide(instant, MILLIS_PER_DAY);
  int64_t millis = floor_modulo(instant, MILLIS_PER_DAY) + zone_offset(zone, instant);
  int64_t carry = floor_divide(millis, MILLIS_PER_DAY);
  return {day + carry, static_cast<int32_t>(millis - carry * MILLIS_PER_DAY)};
}

__device__ inline int64_t floor_to(int64_t value, int64_t step) {
  return subtract(value, floor_modulo(value, step));
}

__device__ inline int64_t millis_of(DateTimeUnit unit) {
  switch (unit) {
    case WEEK:
      return 7 * MILLIS_PER_DAY;
    case DAY:
      return MILLIS_PER_DAY;
    case HOUR:
      return 3600000;
    case MINUTE:
      return 60000;
    case SECOND:
      return 1000;
    default:
      return 1;
  }
}

__device__ inline bool is_date_unit(DateTimeUnit unit) {
  return unit < DAY;
}

__device__ inline int32_t julian_of(int64_t millis) {
  return static_cast<int32_t>(millis / MILLIS_PER_DAY + EPOCH_JULIAN);
}

// A unit of a time of day within the next larger unit, with the sign of the number.
template <typename Integer>
__device__ inline int64_t extract_of_day(DateTimeUnit unit, Integer number) {
  switch (unit) {
    case HOUR:
      return number % 86400000 / 3600000;
    case MINUTE:
      return number % 3600000 / 60000;
    case SECOND:
      return number % 60000 / 1000;
    default:
      return number % 1000;
  }
}

__device__ inline bool is_time_unit(DateTimeUnit unit) {
  return unit >= HOUR && unit <= MILLISECOND;
}

}  // namespace millrace
