// SPDX-License-Identifier: Apache-2.0
// Casts between text and booleans, numbers and bytes. The constant of casts to and from decimals is two bytes:
// precision and scale.

#include "text_cast.cuh"
#include "function/utf8.cuh"

using namespace millrace;

namespace {

constexpr int32_t LONG_DIGITS = 18;

// Up to seven bytes as one number, behind a one that keeps their length.
__device__ constexpr uint64_t word(const char* text) {
  uint64_t packed = 1;
  for (; *text != 0; text++) {
    packed = packed << 8 | static_cast<uint8_t>(*text);
  }
  return packed;
}

// The bytes in lower case as one number, if they are a word of up to five bytes; else no word's number.
__device__ inline uint64_t lower_case_word(const char* bytes, int32_t length) {
  uint64_t packed = 1;
  for (int32_t i = 0; i < length && length <= 5; i++) {
    char byte = bytes[i] >= 'A' && bytes[i] <= 'Z' ? bytes[i] + ('a' - 'A') : bytes[i];
    packed = packed << 8 | static_cast<uint8_t>(byte);
  }
  return packed;
}

template <typename Result>
__device__ inline Outcome<Result> narrow(Outcome<int64_t> of) {
  return {static_cast<Result>(of.value), of.status};
}

// Decimals of up to 18 digits from up to 18 bytes, as BinaryStringDataUtil of Flink, which takes one byte of
// anything behind a number, counts leading zeros for the precision and does not look again after rounding.
__device__ inline Outcome<int64_t> parse_short_decimal(
    const char* bytes, int32_t length, int32_t precision, int32_t scale) {
  int32_t i = 0;
  while (i < length && is_blank(bytes[i])) {
    i++;
  }
  bool negative = i < length && bytes[i] == '-';
  i += negative || (i < length && bytes[i] == '+');
  if (i == length) {
    return none<int64_t>(INVALID_CAST);
  }
  Significand read = read_significand(bytes, length, i);
  if (read.digits < 0) {
    return none<int64_t>(INVALID_CAST);
  }
  int32_t exponent = 0;
  i = read.next;
  if ((read.end == 'e' || read.end == 'E') && i < length) {
    bool negative_exponent = bytes[i] == '-';
    if (negative_exponent || bytes[i] == '+') {
      i++;
      if (i == length) {
        return none<int64_t>(INVALID_CAST);
      }
    }
    while (i < length) {
      char byte = bytes[i++];
      if (!is_digit(byte)) {
        break;
      }
      exponent = exponent < 40 ? exponent * 10 + (byte - '0') : exponent;
    }
    exponent = negative_exponent ? -exponent : exponent;
  }
  for (; i < length; i++) {
    if (!is_blank(bytes[i])) {
      return none<int64_t>(INVALID_CAST);
    }
  }
  int32_t change = exponent - (read.digits - read.digits_before_point) + scale;
  if (read.digits + change > precision) {
    return none<int64_t>(INVALID_CAST);
  }
  if (change < -LONG_DIGITS) {
    return none<int64_t>(INVALID_CAST);
  }
  int64_t magnitude = change >= 0 ? read.magnitude * power_of_ten(change)
                                  : (read.magnitude + 5 * power_of_ten(-change - 1)) /
                                        power_of_ten(-change);
  return value(negative ? -magnitude : magnitude);
}

__device__ inline void times_ten_plus(Decimal& number, uint32_t digit) {
  uint64_t low = number.low;
  number.high = static_cast<int64_t>(static_cast<uint64_t>(number.high) * 10 + __umul64hi(low, 10));
  number.low = low * 10;
  number.low += digit;
  number.high += number.low < digit;
}

// As BigDecimal, rounded half up: digits that weigh at least 10^-scale count, and the one behind them rounds.
__device__ inline Outcome<Decimal> parse_decimal(
    const char* bytes, int32_t length, int32_t precision, int32_t scale) {
  Text text = trim_blanks(bytes, length);
  Outcome<Number> parsed = parse_number(text);
  if (parsed.status != VALUE) {
    return none<Decimal>(is_printable(text) ? static_cast<Status>(parsed.status) : NEEDS_HOST);
  }
  Number number = parsed.value;
  // The place of the next digit, counted from the last one that counts.
  int32_t place = number.digits_before_point - 1 + number.exponent + scale;
  Decimal unscaled{0, 0};
  bool is_zero = true;
  uint32_t rounding = 0;
  for (int32_t i = number.first; i < number.last; i++) {
    if (number.text[i] == '.') {
      continue;
    }
    uint32_t digit = static_cast<uint32_t>(number.text[i] - '0');
    is_zero = is_zero && digit == 0;
    if (!is_zero && place >= precision) {
      return none<Decimal>(INVALID_CAST);
    }
    if (place >= 0) {
      times_ten_plus(unscaled, digit);
    } else if (place == -1) {
      rounding = digit;
    }
    place--;
  }
  if (!is_zero) {
    for (; place >= 0; place--) {
      times_ten_plus(unscaled, 0);
    }
  }
  if (rounding >= 5) {
    unscaled.low++;
    unscaled.high += unscaled.low == 0;
  }
  Decimal limit{1, 0};
  for (int32_t i = 0; i < precision; i++) {
    times_ten_plus(limit, 0);
  }
  if (unscaled.high > limit.high || (unscaled.high == limit.high && unscaled.low >= limit.low)) {
    return none<Decimal>(INVALID_CAST);
  }
  if (number.negative) {
    unscaled.low = 0 - unscaled.low;
    unscaled.high = static_cast<int64_t>(~static_cast<uint64_t>(unscaled.high)) + (unscaled.low == 0);
  }
  return value(unscaled);
}

__device__ inline Outcome<int64_t> parse_long_decimal(
    const char* bytes, int32_t length, const char* constant) {
  int32_t precision = constant[0];
  int32_t scale = constant[1];
  if (length <= LONG_DIGITS) {
    return parse_short_decimal(bytes, length, precision, scale);
  }
  Outcome<Decimal> parsed = parse_decimal(bytes, length, precision, scale);
  return {static_cast<int64_t>(parsed.value.low), parsed.status};
}

// Whether Double.parseDouble may take it: it takes NaN, Infinity, hexadecimal digits and a type behind them, too.
__device__ inline bool may_start_double(Text text) {
  int32_t i = text.length > 0 && (text[0] == '-' || text[0] == '+');
  return i < text.length &&
         (is_digit(text[i]) || text[i] == '.' || text[i] == 'N' || text[i] == 'I');
}

// Exact where both the digits and the power of ten are: one rounding remains (W. D. Clinger, How to read
// floating point numbers accurately, 1990).
__device__ inline Outcome<double> parse_double(const char* bytes, int32_t length) {
  Text text = trim_spaces(bytes, length);
  Outcome<Number> parsed = parse_number(text);
  if (parsed.status != VALUE) {
    return none<double>(is_printable(text) && !may_start_double(text) ? INVALID_CAST : NEEDS_HOST);
  }
  Number number = parsed.value;
  uint64_t digits = 0;
  int32_t significant = 0;
  int32_t behind_point = -number.digits_before_point;
  for (int32_t i = number.first; i < number.last; i++) {
    if (number.text[i] == '.') {
      continue;
    }
    digits = digits * 10 + static_cast<uint64_t>(number.text[i] - '0');
    significant += digits > 0;
    behind_point++;
    if (significant > 15) {
      return none<double>(NEEDS_HOST);
    }
  }
  int32_t exponent = number.exponent - behind_point;
  double result = static_cast<double>(digits);
  if (digits > 0) {
    if (exponent < -22 || exponent > 22) {
      return none<double>(NEEDS_HOST);
    }
    double power = 1;
    for (int32_t i = exponent < 0 ? -exponent : exponent; i > 0; i--) {
      power *= 10;
    }
    result = exponent < 0 ? result / power : result * power;
  }
  return value(number.negative ? -result : result);
}

// Whether a float that is rounded from the double is rounded from what the double was rounded from, too: not if
// the double is between two floats, or beyond the normal ones.
__device__ inline bool rounds_once(double number) {
  double magnitude = number < 0 ? -number : number;
  constexpr uint64_t DROPPED = (1ULL << 29) - 1;
  uint64_t dropped = static_cast<uint64_t>(__double_as_longlong(magnitude)) & DROPPED;
  bool is_normal = magnitude >= 0x1p-126 && magnitude < 0x1.fffffep127;
  return magnitude == 0 || (is_normal && dropped != 1ULL << 28);
}

}  // namespace

MILLRACE_FUNCTION String cast_boolean_to_string(char* scratch, int32_t of) {
  constexpr uint64_t TRUE_WORD = word("TRUE");
  constexpr uint64_t FALSE_WORD = word("FALSE");
  int32_t length = of ? 4 : 5;
  uint64_t packed = of ? TRUE_WORD : FALSE_WORD;
  for (int32_t i = length - 1; i >= 0; i--) {
    scratch[i] = static_cast<char>(packed);
    packed >>= 8;
  }
  return {scratch, length};
}

MILLRACE_FUNCTION String cast_int32_to_string(char* scratch, int32_t of) {
  return write_integer(of, scratch);
}

MILLRACE_FUNCTION String cast_int64_to_string(char* scratch, int64_t of) {
  return write_integer(of, scratch);
}

MILLRACE_FUNCTION String cast_decimal32_to_string(char* scratch, int32_t of, const char* constant) {
  return write_decimal(static_cast<uint64_t>(static_cast<int64_t>(of)), of < 0 ? -1 : 0, constant[1],
                       scratch);
}

MILLRACE_FUNCTION String cast_decimal64_to_string(char* scratch, int64_t of, const char* constant) {
  return write_decimal(static_cast<uint64_t>(of), of < 0 ? -1 : 0, constant[1], scratch);
}

MILLRACE_FUNCTION String cast_decimal128_to_string(
    char* scratch, uint64_t low, int64_t high, const char* constant) {
  return write_decimal(low, high, constant[1], scratch);
}

MILLRACE_FUNCTION Outcome<int32_t> cast_string_to_boolean(const char* bytes, int32_t length) {
  switch (lower_case_word(bytes, length)) {
    case word("t"):
    case word("true"):
    case word("y"):
    case word("yes"):
    case word("1"):
      return value(1);
    case word("f"):
    case word("false"):
    case word("n"):
    case word("no"):
    case word("0"):
      return value(0);
    default:
      return none<int32_t>(INVALID_CAST);
  }
}

MILLRACE_FUNCTION Outcome<int32_t> cast_string_to_int8(const char* bytes, int32_t length) {
  return narrow<int32_t>(parse_integer(bytes, length, INT8_MIN, INT8_MAX));
}

MILLRACE_FUNCTION Outcome<int32_t> cast_string_to_int16(const char* bytes, int32_t length) {
  return narrow<int32_t>(parse_integer(bytes, length, INT16_MIN, INT16_MAX));
}

MILLRACE_FUNCTION Outcome<int32_t> cast_string_to_int32(const char* bytes, int32_t length) {
  return narrow<int32_t>(parse_integer(bytes, length, INT32_MIN, INT32_MAX));
}

MILLRACE_FUNCTION Outcome<int64_t> cast_string_to_int64(const char* bytes, int32_t length) {
  return parse_integer(bytes, length, INT64_MIN, INT64_MAX);
}

MILLRACE_FUNCTION Outcome<int32_t> cast_string_to_decimal32(
    const char* bytes, int32_t length, const char* constant) {
  return narrow<int32_t>(parse_long_decimal(bytes, length, constant));
}

MILLRACE_FUNCTION Outcome<int64_t> cast_string_to_decimal64(
    const char* bytes, int32_t length, const char* constant) {
  return parse_long_decimal(bytes, length, constant);
}

MILLRACE_FUNCTION Outcome<Decimal> cast_string_to_decimal128(
    const char* bytes, int32_t length, const char* constant) {
  return parse_decimal(bytes, length, constant[0], constant[1]);
}

MILLRACE_FUNCTION Outcome<float> cast_string_to_float32(const char* bytes, int32_t length) {
  Outcome<double> parsed = parse_double(bytes, length);
  return parsed.status == VALUE && rounds_once(parsed.value)
             ? value(static_cast<float>(parsed.value))
             : none<float>(NEEDS_HOST);
}

MILLRACE_FUNCTION Outcome<double> cast_string_to_float64(const char* bytes, int32_t length) {
  return parse_double(bytes, length);
}

MILLRACE_FUNCTION String cast_string_to_binary(const char* bytes, int32_t length) {
  return {bytes, length};
}

// Bytes that are not UTF-8 need the host, which replaces them.
MILLRACE_FUNCTION Outcome<String> cast_binary_to_string(const char* bytes, int32_t length) {
  int32_t at = 0;
  while (at < length) {
    const int32_t width = well_formed_width(bytes + at, length - at);
    if (width == 0) {
      return none<String>(NEEDS_HOST);
    }
    at += width;
  }
  return value(String{bytes, length});
}

MILLRACE_FUNCTION String cast_varchar(const char* bytes, int32_t length, int32_t code_points) {
  return {bytes, offset_of_code_point(bytes, length, code_points)};
}

MILLRACE_FUNCTION String cast_varbinary(const char* bytes, int32_t length, int32_t most) {
  return {bytes, length < most ? length : most};
}

MILLRACE_FUNCTION String cast_binary(char* scratch, const char* bytes, int32_t length, int32_t count) {
  if (length >= count) {
    return {bytes, count};
  }
  copy_mapped(scratch, bytes, length, [](uint64_t word) { return word; });
  for (int32_t i = length; i < count; i++) {
    scratch[i] = 0;
  }
  return {scratch, count};
}

MILLRACE_FUNCTION String cast_char(
    char* scratch, const char* bytes, int32_t length, int32_t code_points) {
  const CodePoints first = first_code_points(bytes, length, code_points);
  if (first.count == code_points) {
    return {bytes, first.bytes};
  }
  const int32_t padded = length + code_points - first.count;
  copy_mapped(scratch, bytes, length, [](uint64_t word) { return word; });
  for (int32_t i = length; i < padded; i++) {
    scratch[i] = ' ';
  }
  return {scratch, padded};
}
