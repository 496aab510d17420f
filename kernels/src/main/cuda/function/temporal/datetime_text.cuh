// SPDX-License-Identifier: Apache-2.0
// Dates and times as text: the fixed forms of casts, and patterns.
//
// A pattern is compiled by io.millrace.expression.function.temporal.DateTimePattern to bytes: fields, each with its
// number of digits or of bytes of text. Functions with patterns take a constant: int32 offset of the pattern,
// int32 its bytes, the table of a time zone, the pattern.

#pragma once

#include "datetime_zone.cuh"

namespace millrace {

// The same numbers as io.millrace.expression.function.temporal.DateTimePattern.Field.
enum PatternField : uint8_t {
  YEAR_FIELD,
  MONTH_FIELD,
  DAY_FIELD,
  HOUR_FIELD,
  MINUTE_FIELD,
  SECOND_FIELD,
  FRACTION_FIELD,
  TEXT_FIELD,
  FIELDS,
};

struct Pattern {
  const char* zone;
  const char* fields;
  int32_t bytes;
};

__device__ inline Pattern pattern_of(const char* constant) {
  const int32_t* header = reinterpret_cast<const int32_t*>(constant);
  return {constant + 8, constant + header[0], header[1]};
}

struct LocalTime {
  CivilDate date;
  int32_t millis_of_day;
  int32_t nanos_of_milli;

  __device__ int32_t nanos_of_second() const {
    return add(millis_of_day % 1000 * 1000000, nanos_of_milli);
  }
};

// One digit after the other, also of negative numbers as Java's character arithmetic has them.
__device__ inline char* put_digits(char* to, int32_t value, int32_t digits) {
  for (int32_t i = digits - 1; i >= 0; i--) {
    to[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
  return to + digits;
}

__device__ inline char* put_date(char* to, CivilDate date) {
  to = put_digits(to, date.year, 4);
  *to++ = '-';
  to = put_digits(to, date.month, 2);
  *to++ = '-';
  return put_digits(to, date.day, 2);
}

__device__ inline char* put_time(char* to, int32_t millis_of_day) {
  int32_t seconds = millis_of_day / 1000;
  to = put_digits(to, seconds / 3600, 2);
  *to++ = ':';
  to = put_digits(to, seconds / 60 % 60, 2);
  *to++ = ':';
  return put_digits(to, seconds % 60, 2);
}

__device__ inline int32_t field_value(PatternField field, const LocalTime& time) {
  int32_t seconds = time.millis_of_day / 1000;
  switch (field) {
    case YEAR_FIELD:
      return time.date.year;
    case MONTH_FIELD:
      return time.date.month;
    case DAY_FIELD:
      return time.date.day;
    case HOUR_FIELD:
      return seconds / 3600;
    case MINUTE_FIELD:
      return seconds / 60 % 60;
    default:
      return seconds % 60;
  }
}

// Writes a time of the years 1 to 9999; a number of one digit is written with two if it has them.
static __device__ __noinline__ char* put_pattern(char* to, const Pattern& pattern, const LocalTime& time) {
  const char* fields = pattern.fields;
  const char* end = fields + pattern.bytes;
  while (fields < end) {
    PatternField field = static_cast<PatternField>(*fields++);
    int32_t digits = static_cast<uint8_t>(*fields++);
    if (field == TEXT_FIELD) {
      for (int32_t i = 0; i < digits; i++) *to++ = *fields++;
    } else if (field == FRACTION_FIELD) {
      to = put_digits(to, time.nanos_of_second() / power_of_ten(9 - digits), digits);
    } else {
      int32_t value = field_value(field, time);
      to = put_digits(to, value, digits == 1 && value > 9 ? 2 : digits);
    }
  }
  return to;
}

__device__ inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Reads exactly so many digits; -1 if there are not.
__device__ inline int32_t get_digits(const char* from, int32_t digits) {
  int32_t value = 0;
  for (int32_t i = 0; i < digits; i++) {
    if (!is_digit(from[i])) return -1;
    value = value * 10 + (from[i] - '0');
  }
  return value;
}

struct LocalFields {
  int32_t values[FRACTION_FIELD];
  int32_t nanos_of_second;

  __device__ LocalFields() : nanos_of_second(0) {
    for (int32_t field = HOUR_FIELD; field <= SECOND_FIELD; field++) values[field] = 0;
    values[YEAR_FIELD] = 1970;
    values[MONTH_FIELD] = 1;
    values[DAY_FIELD] = 1;
  }

  __device__ bool are_valid() const {
    return values[YEAR_FIELD] >= 1 && values[MONTH_FIELD] >= 1 && values[MONTH_FIELD] <= 12 &&
           values[DAY_FIELD] >= 1 &&
           values[DAY_FIELD] <= last_day_of_month(values[YEAR_FIELD], values[MONTH_FIELD]) &&
           values[HOUR_FIELD] <= 23 && values[MINUTE_FIELD] <= 59 && values[SECOND_FIELD] <= 59;
  }

  // Milliseconds from 1970-01-01T00:00 to the local time.
  __device__ Timestamp local_time() const {
    int64_t day = epoch_day(values[YEAR_FIELD], values[MONTH_FIELD], values[DAY_FIELD]);
    int32_t second =
        (values[HOUR_FIELD] * 60 + values[MINUTE_FIELD]) * 60 + values[SECOND_FIELD];
    int64_t millis = day * MILLIS_PER_DAY + second * MILLIS_PER_SECOND + nanos_of_second / 1000000;
    return {millis, nanos_of_second % 1000000};
  }
};

// Reads text that has each field with exactly its digits. What it does not read may still be read by the
// formatter on the host, whose rules are laxer.
static __device__ __noinline__ bool get_pattern(
    const char* from, int32_t length, const Pattern& pattern, LocalFields& result) {
  const char* end = from + length;
  const char* fields = pattern.fields;
  const char* fields_end = fields + pattern.bytes;
  while (fields < fields_end) {
    PatternField field = static_cast<PatternField>(*fields++);
    int32_t size = static_cast<uint8_t>(*fields++);
    if (end - from < size) return false;
    if (field == TEXT_FIELD) {
      for (int32_t i = 0; i < size; i++) {
        if (from[i] != *fields++) return false;
      }
    } else {
      int32_t value = get_digits(from, size);
      if (value < 0) return false;
      if (field == FRACTION_FIELD) {
        result.nanos_of_second = value * power_of_ten(9 - size);
      } else {
        result.values[field] = value;
      }
    }
    from += size;
  }
  return from == end && result.are_valid();
}

// Reads "yyyy-MM-dd", which "HH:mm:ss" and a fraction may follow.
static __device__ __noinline__ bool get_plain_timestamp(const char* text, int32_t length, LocalFields& result) {
  if (length < 10 || text[4] != '-' || text[7] != '-') return false;
  result.values[YEAR_FIELD] = get_digits(text, 4);
  result.values[MONTH_FIELD] = get_digits(text + 5, 2);
  result.values[DAY_FIELD] = get_digits(text + 8, 2);
  if (length > 10) {
    if (length < 19 || text[10] != ' ' || text[13] != ':' || text[16] != ':') return false;
    for (int32_t i = 0; i < 3; i++) {
      int32_t value = get_digits(text + 11 + 3 * i, 2);
      if (value < 0) return false;
      result.values[HOUR_FIELD + i] = value;
    }
  }
  if (length > 19) {
    int32_t digits = length - 20;
    if (text[19] != '.' || digits < 1 || digits > 9) return false;
    int32_t fraction = get_digits(text + 20, digits);
    if (fraction < 0) return false;
    result.nanos_of_second = fraction * power_of_ten(9 - digits);
  }
  return result.are_valid();
}

// A part of a text.
struct Part {
  const char* begin;
  const char* end;

  __device__ const char* find(const char* from, char c) const {
    while (from < end && *from != c) from++;
    return from;
  }

  __device__ Part trim() const {
    Part part = *this;
    while (part.begin < part.end && static_cast<uint8_t>(*part.begin) <= ' ') part.begin++;
    while (part.begin < part.end && static_cast<uint8_t>(part.end[-1]) <= ' ') part.end--;
    return part;
  }
};

enum NumberKind { NUMBER, NO_NUMBER, TOO_LARGE };

// Reads digits, between blanks, that an int holds.
__device__ inline NumberKind get_number(Part part, int32_t& number) {
  part = part.trim();
  if (part.begin >= part.end) return NO_NUMBER;
  int64_t value = 0;
  for (const char* c = part.begin; c < part.end; c++) {
    if (!is_digit(*c)) return NO_NUMBER;
    if (value <= INT32_MAX) value = value * 10 + (*c - '0');
  }
  if (value > INT32_MAX) return TOO_LARGE;
  number = static_cast<int32_t>(value);
  return NUMBER;
}

// Flink's DateTimeUtils.parseDate: year[-month[-day]], with blanks around numbers and text after a blank.
__device__ inline NumberKind get_date(const char* text, int32_t length, int32_t& date) {
  Part all{text, text + length};
  const char* blank = all.find(text, ' ');
  if (blank > text) all.end = blank;
  CivilDate civil{0, 1, 1};
  int32_t* numbers[] = {&civil.year, &civil.month, &civil.day};
  const char* from = all.begin;
  for (int32_t i = 0; i < 3; i++) {
    const char* hyphen = i < 2 ? all.find(from, '-') : all.end;
    NumberKind kind = get_number({from, hyphen}, *numbers[i]);
    if (kind != NUMBER) return kind;
    if (hyphen == all.end) break;
    from = hyphen + 1;
  }
  if (civil.year > 9999 || civil.month < 1 || civil.month > 12 || civil.day < 1 ||
      civil.day > last_day_of_month(civil.year, civil.month)) {
    return NO_NUMBER;
  }
  date = epoch_day(civil.year, civil.month, civil.day);
  return NUMBER;
}

// Milliseconds of a fraction, rounded by its fourth digit. A character that is not a digit counts as zero.
__device__ inline Outcome<int32_t> get_fraction(Part part) {
  part = part.trim();
  for (const char* c = part.begin; c < part.end; c++) {
    if (static_cast<uint8_t>(*c) >= 0x80) return none<int32_t>(NEEDS_HOST);
  }
  int32_t millis = 0;
  int32_t multiplier = 100;
  for (const char* c = part.begin; c < part.end && multiplier > 0; c++, multiplier /= 10) {
    if (is_digit(*c)) millis += multiplier * (*c - '0');
    if (multiplier == 1 && c + 1 < part.end && c[1] >= '5') millis++;
  }
  return value(millis);
}

// Flink's DateTimeUtils.parseTime: hour[:minute[:second[.fraction]]][(+|-)hour[:minute]].
__device__ inline Outcome<int32_t> get_time(const char* text, int32_t length) {
  Part all{text, text + length};
  const char* zone = all.find(text, '-');
  int32_t sign = -1;
  if (zone == all.end) {
    zone = all.find(text, '+');
    sign = 1;
  }
  int32_t zone_hour = 0;
  int32_t zone_minute = 0;
  bool zone_has_minute = false;
  if (zone < all.end) {
    const char* colon = all.find(zone, ':');
    zone_has_minute = colon < all.end;
    if (get_number({zone + 1, colon}, zone_hour) != NUMBER) return none<int32_t>(INVALID_CAST);
    if (zone_has_minute && get_number({colon + 1, all.end}, zone_minute) != NUMBER) {
      return none<int32_t>(INVALID_CAST);
    }
  }
  Part time{text, zone};
  int32_t numbers[3] = {0, 0, 0};
  int32_t millis = 0;
  const char* from = time.begin;
  for (int32_t i = 0; i < 3; i++) {
    const char* colon = i < 2 ? time.find(from, ':') : time.end;
    const char* dot = i < 2 ? colon : time.find(from, '.');
    if (get_number({from, dot}, numbers[i]) != NUMBER) return none<int32_t>(INVALID_CAST);
    if (dot < colon) {
      Outcome<int32_t> fraction = get_fraction({dot + 1, time.end});
      if (fraction.status != VALUE) return fraction;
      millis = fraction.value;
    }
    if (colon == time.end) {
      if (i < 2 && zone_has_minute) return none<int32_t>(INVALID_CAST);
      break;
    }
    from = colon + 1;
  }
  if (numbers[0] > 23 || numbers[1] > 59 || numbers[2] > 59) return none<int32_t>(INVALID_CAST);
  int32_t hour = add(numbers[0], multiply(sign, zone_hour));
  int32_t minute = add(numbers[1], multiply(sign, zone_minute));
  int32_t result = add(multiply(hour, 3600000), multiply(minute, 60000));
  return value(add(result, numbers[2] * 1000 + millis));
}

}  // namespace millrace
