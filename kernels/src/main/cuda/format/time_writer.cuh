// SPDX-License-Identifier: Apache-2.0
// Dates and times as text of ISO 8601.
#pragma once

#include <cstdint>

#include "number_writer.cuh"

namespace millrace {

constexpr int64_t NANOS_OF_DAY = 86400000000000;
constexpr int64_t MILLIS_OF_DAY = 86400000;
constexpr int32_t NANOS_OF_MILLI = 1000000;
constexpr int64_t NANOS_OF_SECOND = 1000000000;

static __device__ __forceinline__ int64_t floor_quotient(int64_t dividend, int64_t divisor) {
  const int64_t quotient = dividend / divisor;
  return dividend - quotient * divisor < 0 ? quotient - 1 : quotient;
}

// Hinnant, "chrono-Compatible Low-Level Date Algorithms". Years beyond four digits have a sign.
template <typename Sink>
static __device__ inline void put_date(Sink& sink, int64_t day) {
  const int64_t shifted = day + 719468;
  const int64_t era = floor_quotient(shifted, 146097);
  const int32_t day_of_era = static_cast<int32_t>(shifted - era * 146097);
  const int32_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int32_t march_month = (5 * day_of_year + 2) / 153;
  const int32_t day_of_month = day_of_year - (153 * march_month + 2) / 5 + 1;
  const int32_t month = march_month < 10 ? march_month + 3 : march_month - 9;
  const int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  const int64_t magnitude = year < 0 ? -year : year;
  if (year < 0 || year > 9999) sink.put(year < 0 ? '-' : '+');
  if (magnitude > 9999) {
    const NumberDigits digits = digits_of(static_cast<uint64_t>(magnitude), 0);
    put_digits(sink, digits, digits.first, DIGITS);
  } else {
    const int32_t four = static_cast<int32_t>(magnitude);
    sink.put(two_digits(four / 100) | two_digits(four % 100) << 16, 4);
  }
  const uint64_t dash = '-';
  sink.put(dash | two_digits(month) << 8 | dash << 24 | two_digits(day_of_month) << 32, 6);
}

template <typename Sink>
static __device__ inline void put_time(Sink& sink, int64_t nanos_of_day, int32_t precision) {
  const int32_t second = static_cast<int32_t>(nanos_of_day / NANOS_OF_SECOND);
  const uint64_t colon = ':';
  sink.put(two_digits(second / 3600 % 100) | colon << 16 | two_digits(second / 60 % 60) << 24 | colon << 40 |
               two_digits(second % 60) << 48,
           8);
  if (precision == 0) return;
  const uint32_t nanos = static_cast<uint32_t>(nanos_of_day % NANOS_OF_SECOND);
  sink.put('.' | static_cast<uint64_t>('0' + nanos / GROUP) << 8, 2);
  sink.put(eight_digits(nanos % GROUP) | ZERO_DIGITS, precision - 1);
}

// Below zero, the time counts from the end of the day, as in a cast.
template <typename Sink>
static __device__ inline void put_time_of_millis(Sink& sink, int32_t millis_of_day, int32_t precision) {
  int64_t positive = millis_of_day;
  if (positive < 0) positive -= floor_quotient(positive, MILLIS_OF_DAY) * MILLIS_OF_DAY;
  put_time(sink, positive * NANOS_OF_MILLI, precision);
}

// A timestamp of `units` of `unit` nanoseconds, which divide a millisecond or are milliseconds, and `nanos` beside them.
template <typename Sink>
static __device__ inline void put_timestamp(Sink& sink, int64_t units, int32_t unit, int32_t nanos, int32_t precision,
                                            char separator, bool has_zone) {
  const int64_t units_of_day = NANOS_OF_DAY / unit;
  const int64_t day = floor_quotient(units, units_of_day);
  const uint64_t start_of_day = static_cast<uint64_t>(day) * static_cast<uint64_t>(units_of_day);
  const int64_t units_in_day = static_cast<int64_t>(static_cast<uint64_t>(units) - start_of_day);
  put_date(sink, day);
  sink.put(separator);
  put_time(sink, units_in_day * unit + nanos, precision);
  if (has_zone) sink.put('Z');
}

}  // namespace millrace
