// SPDX-License-Identifier: Apache-2.0
// Dates, times and timestamps from and to text and numbers.

#include "datetime_text.cuh"
#include "datetime_timestamp.cuh"

namespace millrace {

// Formats an instant; the device does it for the years 1 to 9999.
static __device__ __noinline__ Outcome<String> format(
    char* scratch, int64_t instant, int32_t nanos, const Pattern& pattern, int64_t first_day) {
  constexpr int64_t LAST_DAY = 2932896;
  LocalDay local = local_day(instant, pattern.zone);
  if (local.day < first_day || local.day > LAST_DAY) return none<String>(NEEDS_HOST);
  LocalTime time{civil_date_of_epoch_day(local.day), local.millis_of_day, nanos};
  char* end = put_pattern(scratch, pattern, time);
  return value(String{scratch, static_cast<int32_t>(end - scratch)});
}

constexpr int64_t FIRST_DAY = -719162;
// Legacy formats use the julian calendar up to 1582.
constexpr int64_t FIRST_DAY_OF_LEGACY_FORMAT = -141427;

// Reads an instant by a pattern, or says that the host must.
static __device__ __noinline__ Outcome<Timestamp> parse(
    const char* bytes, int32_t length, const Pattern& pattern, int64_t first_day) {
  LocalFields fields;
  if (!get_pattern(bytes, length, pattern, fields)) return none<Timestamp>(NEEDS_HOST);
  Timestamp time = fields.local_time();
  if (time.millis < first_day * MILLIS_PER_DAY) return none<Timestamp>(NEEDS_HOST);
  time.millis -= zone_offset(pattern.zone, time.millis);
  return value(time);
}

// Reads a plain timestamp, whose fraction is cut to a precision.
static __device__ __noinline__ Outcome<Timestamp> parse_plain(
    const char* bytes, int32_t length, int32_t precision, const char* zone) {
  LocalFields fields;
  if (!get_plain_timestamp(bytes, length, fields)) return none<Timestamp>(NEEDS_HOST);
  fields.nanos_of_second -= fields.nanos_of_second % power_of_ten(9 - precision);
  Timestamp time = fields.local_time();
  time.millis -= zone_offset(zone, time.millis);
  return value(time);
}

// An instant from a number of units since the epoch, of which a second has 10^precision; null outside the
// years 0 to 9999.
static __device__ __noinline__ Outcome<Timestamp> from_epoch(int64_t number, int32_t precision) {
  int64_t factor = power_of_ten(precision);
  int64_t second = floor_divide(number, factor);
  if (second < -62167219200 || second > 253402300799) return none<Timestamp>(NULL_VALUE);
  int32_t nanos = static_cast<int32_t>(subtract(number, multiply(second, factor)) * power_of_ten(9 - precision));
  return value(Timestamp{second * MILLIS_PER_SECOND + nanos / 1000000, nanos % 1000000});
}

// As Java casts: NaN is zero, and what is too large the largest.
__device__ inline int64_t saturated(double number) {
  if (number != number) return 0;
  if (number >= 9223372036854775808.0) return INT64_MAX;
  return number <= -9223372036854775808.0 ? INT64_MIN : static_cast<int64_t>(number);
}

__device__ inline Outcome<Timestamp> from_epoch(double number, int32_t precision) {
  double second = number / power_of_ten(precision);
  if (second < -62167219200.0 || second > 253402300799.0) return none<Timestamp>(NULL_VALUE);
  return from_epoch(saturated(number * power_of_ten(9 - precision)), 9);
}

__device__ inline Outcome<int64_t> millis_of(Outcome<Timestamp> time) {
  return {time.value.millis, time.status};
}

__device__ inline Outcome<int64_t> micros_of(Outcome<Timestamp> time) {
  return time.status == VALUE ? as_micros(time.value) : none<int64_t>(static_cast<Status>(time.status));
}

}  // namespace millrace

using namespace millrace;

// Casts to and from STRING.

MILLRACE_FUNCTION String date_to_string(char* scratch, int32_t date) {
  put_date(scratch, civil_date(add(date, EPOCH_JULIAN)));
  return {scratch, 10};
}

MILLRACE_FUNCTION String time_to_string(char* scratch, int32_t time, int32_t precision) {
  while (time < 0) time += static_cast<int32_t>(MILLIS_PER_DAY);
  char* end = put_time(scratch, time);
  if (precision > 0) {
    int32_t millis = time % 1000;
    int32_t needed = millis % 100 == 0 ? 1 : millis % 10 == 0 ? 2 : 3;
    int32_t digits = needed < precision ? needed : precision;
    *end++ = '.';
    end = put_digits(end, millis / power_of_ten(3 - digits), digits);
  }
  return {scratch, static_cast<int32_t>(end - scratch)};
}

MILLRACE_FUNCTION String timestamp_to_string(
    char* scratch, int64_t millis, int32_t nanos, int32_t precision) {
  int32_t day = static_cast<int32_t>(floor_divide(millis, MILLIS_PER_DAY));
  int32_t of_day = static_cast<int32_t>(floor_modulo(millis, MILLIS_PER_DAY));
  char* end = put_date(scratch, civil_date_of_epoch_day(day));
  *end++ = ' ';
  end = put_time(end, of_day);
  if (precision > 0) {
    *end++ = '.';
    int32_t fraction = nanos_of_second({millis, nanos}) / power_of_ten(9 - precision);
    end = put_digits(end, fraction, precision);
  }
  return {scratch, static_cast<int32_t>(end - scratch)};
}

MILLRACE_FUNCTION Outcome<int32_t> string_to_date(const char* bytes, int32_t length) {
  int32_t date = 0;
  NumberKind kind = get_date(bytes, length, date);
  return kind == NUMBER ? value(date) : none<int32_t>(INVALID_CAST);
}

MILLRACE_FUNCTION Outcome<int32_t> to_date(const char* bytes, int32_t length) {
  int32_t date = 0;
  NumberKind kind = get_date(bytes, length, date);
  if (kind == NUMBER) return value(date);
  return none<int32_t>(kind == TOO_LARGE ? INVALID_ARGUMENT : NULL_VALUE);
}

MILLRACE_FUNCTION Outcome<int32_t> string_to_time(const char* bytes, int32_t length) {
  return get_time(bytes, length);
}

MILLRACE_FUNCTION Outcome<int64_t> string_to_millis(
    const char* bytes, int32_t length, int32_t precision, const char* zone) {
  return millis_of(parse_plain(bytes, length, precision, zone));
}

MILLRACE_FUNCTION Outcome<int64_t> string_to_micros(
    const char* bytes, int32_t length, int32_t precision, const char* zone) {
  return micros_of(parse_plain(bytes, length, precision, zone));
}

MILLRACE_FUNCTION Outcome<Timestamp> string_to_nanos(
    const char* bytes, int32_t length, int32_t precision, const char* zone) {
  return parse_plain(bytes, length, precision, zone);
}

// Patterns. A legacy pattern is one of java.text, others are of java.time.

MILLRACE_FUNCTION Outcome<String> format_timestamp(
    char* scratch, int64_t millis, int32_t nanos, const char* constant) {
  return format(scratch, millis, nanos, pattern_of(constant), FIRST_DAY);
}

MILLRACE_FUNCTION Outcome<String> format_unix_time(
    char* scratch, int64_t seconds, const char* constant) {
  constexpr int64_t LAST_SECOND = 253402300800;
  if (seconds < -LAST_SECOND || seconds > LAST_SECOND) return none<String>(NEEDS_HOST);
  return format(
      scratch, seconds * MILLIS_PER_SECOND, 0, pattern_of(constant), FIRST_DAY_OF_LEGACY_FORMAT);
}

MILLRACE_FUNCTION Outcome<int64_t> parse_to_millis(
    const char* bytes, int32_t length, const char* constant) {
  return millis_of(parse(bytes, length, pattern_of(constant), FIRST_DAY));
}

MILLRACE_FUNCTION Outcome<int64_t> parse_to_micros(
    const char* bytes, int32_t length, const char* constant) {
  return micros_of(parse(bytes, length, pattern_of(constant), FIRST_DAY));
}

MILLRACE_FUNCTION Outcome<Timestamp> parse_to_nanos(
    const char* bytes, int32_t length, const char* constant) {
  return parse(bytes, length, pattern_of(constant), FIRST_DAY);
}

MILLRACE_FUNCTION Outcome<int32_t> parse_legacy_to_date(
    const char* bytes, int32_t length, const char* constant) {
  Outcome<Timestamp> time =
      parse(bytes, length, pattern_of(constant), FIRST_DAY_OF_LEGACY_FORMAT);
  return {static_cast<int32_t>(floor_divide(time.value.millis, MILLIS_PER_DAY)), time.status};
}

MILLRACE_FUNCTION Outcome<int64_t> parse_legacy_to_unix_time(
    const char* bytes, int32_t length, const char* constant) {
  Outcome<Timestamp> time =
      parse(bytes, length, pattern_of(constant), FIRST_DAY_OF_LEGACY_FORMAT);
  return {time.value.millis / MILLIS_PER_SECOND, time.status};
}

// The constant is that of reading, and after it that of writing, where its first header says the pattern
// ends.
MILLRACE_FUNCTION Outcome<String> convert_time_zone(
    char* scratch, const char* bytes, int32_t length, const char* constant) {
  Pattern from = pattern_of(constant);
  Outcome<Timestamp> time = parse(bytes, length, from, FIRST_DAY_OF_LEGACY_FORMAT);
  if (time.status != VALUE) return none<String>(NEEDS_HOST);
  int64_t end = (from.fields + from.bytes - constant + 7) / 8 * 8;
  return format(
      scratch, time.value.millis, 0, pattern_of(constant + end), FIRST_DAY_OF_LEGACY_FORMAT);
}

// TO_TIMESTAMP_LTZ of a number.

MILLRACE_FUNCTION Outcome<int64_t> epoch_to_millis(int64_t number, int32_t precision) {
  return millis_of(from_epoch(number, precision));
}

MILLRACE_FUNCTION Outcome<int64_t> epoch_to_micros(int64_t number, int32_t precision) {
  return micros_of(from_epoch(number, precision));
}

MILLRACE_FUNCTION Outcome<Timestamp> epoch_to_nanos(int64_t number, int32_t precision) {
  return from_epoch(number, precision);
}

MILLRACE_FUNCTION Outcome<int64_t> double_epoch_to_millis(double number, int32_t precision) {
  return millis_of(from_epoch(number, precision));
}

MILLRACE_FUNCTION Outcome<int64_t> double_epoch_to_micros(double number, int32_t precision) {
  return micros_of(from_epoch(number, precision));
}

MILLRACE_FUNCTION Outcome<Timestamp> double_epoch_to_nanos(double number, int32_t precision) {
  return from_epoch(number, precision);
}
