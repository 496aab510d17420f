// Functions of dates and times, with the results of the code that Flink generates.
//
// Timestamps are milliseconds, which lose nothing that a function asks for, or milliseconds and nanoseconds
// of the millisecond. Those with a time zone become local times first.

#include "datetime_text.cuh"

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
  return static_cast<int32_t>(floor_modulo(time.millis, MILLIS_PER_SECOND)) * 1000000 + time.nanos;
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
  int32_t nanos = static_cast<int32_t>((number - second * factor) * power_of_ten(9 - precision));
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

// Casts to and from STRING.

MILLRACE_FUNCTION String date_to_string(char* scratch, int32_t date) {
  put_date(scratch, civil_date(add(date, EPOCH_JULIAN)));
  return {scratch, 10};
}

MILLRACE_FUNCTION String time_to_string(char* scratch, int32_t time) {
  while (time < 0) time += static_cast<int32_t>(MILLIS_PER_DAY);
  int32_t millis = time % 1000;
  char* end = put_time(scratch, time);
  *end++ = '.';
  int32_t digits = millis % 100 == 0 ? 1 : millis % 10 == 0 ? 2 : 3;
  end = put_digits(end, millis / power_of_ten(3 - digits), digits);
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
