// SPDX-License-Identifier: Apache-2.0
// Dates, times and timestamps of ISO 8601, as java.time reads them, of the years 0000 to 9999.
#pragma once

#include "text_cursor.cuh"

namespace millrace {

constexpr int32_t MILLIS_OF_SECOND = 1000;
constexpr int32_t NANOS_OF_MILLI = 1000000;
constexpr int64_t MILLIS_OF_DAY = 86400000;
constexpr int32_t NANO_DIGITS = 9;
constexpr int32_t MAX_OFFSET = 18 * 3600;  // seconds

static __device__ __forceinline__ bool read_digits(TextCursor& text, int32_t count, int32_t& value) {
  value = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (!is_digit(text.peek())) return false;
    value = value * 10 + (text.next() - '0');
  }
  return true;
}

static __device__ __forceinline__ int32_t days_of_month(int32_t year, int32_t month) {
  if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Days since 1970-01-01 of the proleptic Gregorian calendar (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
static __device__ __forceinline__ int32_t days_of_date(int32_t year, int32_t month, int32_t day) {
  const int32_t shifted = year + 400 - (month <= 2);  // not negative
  const int32_t era = shifted / 400;
  const int32_t year_of_era = shifted % 400;
  const int32_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int32_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return (era - 1) * 146097 + day_of_era - 719468;
}

static __device__ __forceinline__ bool read_date(TextCursor& text, int32_t& days) {
  int32_t year;
  int32_t month;
  int32_t day;
  if (!read_digits(text, 4, year) || !text.take('-') || !read_digits(text, 2, month) || !text.take('-') ||
      !read_digits(text, 2, day)) {
    return false;
  }
  if (month < 1 || month > 12 || day < 1 || day > days_of_month(year, month)) return false;
  days = days_of_date(year, month, day);
  return true;
}

struct TimeOfDay {
  int32_t millis;
  int32_t nanos;  // of the millisecond
};

static __device__ __forceinline__ bool read_time(TextCursor& text, TimeOfDay& time) {
  int32_t hour;
  int32_t minute;
  int32_t second = 0;
  int32_t nanos = 0;
  if (!read_digits(text, 2, hour) || !text.take(':') || !read_digits(text, 2, minute)) return false;
  if (text.take(':')) {
    if (!read_digits(text, 2, second)) return false;
    if (text.take('.')) {
      int32_t digits = 0;
      for (; digits < NANO_DIGITS && is_digit(text.peek()); ++digits) nanos = nanos * 10 + (text.next() - '0');
      for (; digits < NANO_DIGITS; ++digits) nanos *= 10;
    }
  }
  if (hour > 23 || minute > 59 || second > 59) return false;
  time = {((hour * 60 + minute) * 60 + second) * MILLIS_OF_SECOND + nanos / NANOS_OF_MILLI, nanos % NANOS_OF_MILLI};
  return true;
}

// Z, or hours with a sign, and perhaps minutes, and perhaps seconds.
static __device__ __forceinline__ bool read_offset(TextCursor& text, int32_t& seconds) {
  seconds = 0;
  const int32_t first = text.next();
  if (first == 'Z' || first == 'z') return true;
  if (first != '+' && first != '-') return false;
  int32_t part;
  if (!read_digits(text, 2, part) || part > 18) return false;
  seconds = part * 3600;
  for (int32_t unit = 60; unit > 0 && text.peek() != END_OF_TEXT; unit /= 60) {
    if (!text.take(':') || !read_digits(text, 2, part) || part > 59) return false;
    seconds += part * unit;
  }
  if (seconds > MAX_OFFSET) return false;
  if (first == '-') seconds = -seconds;
  return true;
}

struct Timestamp {
  int64_t millis;
  int32_t nanos;  // of the millisecond
};

// A date, T or a space, a time, and an offset if there must be one. Digits of the second behind `precision` are dropped.
static __device__ __forceinline__ bool read_timestamp(TextCursor& text, bool has_offset, int32_t precision, Timestamp& value) {
  int32_t days;
  if (!read_date(text, days)) return false;
  const int32_t separator = text.next();
  if (separator != 'T' && separator != 't' && separator != ' ') return false;
  TimeOfDay time;
  if (!read_time(text, time)) return false;
  int32_t offset = 0;
  if (has_offset && !read_offset(text, offset)) return false;
  int32_t unit = 1;  // nanoseconds
  for (int32_t digits = precision; digits < NANO_DIGITS; ++digits) unit *= 10;
  const int32_t nanos = (time.millis % MILLIS_OF_SECOND * NANOS_OF_MILLI + time.nanos) / unit * unit;
  const int32_t second = time.millis / MILLIS_OF_SECOND;
  value.millis = days * MILLIS_OF_DAY + static_cast<int64_t>(second - offset) * MILLIS_OF_SECOND + nanos / NANOS_OF_MILLI;
  value.nanos = nanos % NANOS_OF_MILLI;
  return true;
}

}  // namespace millrace
