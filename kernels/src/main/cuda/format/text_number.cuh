// SPDX-License-Identifier: Apache-2.0
// Decimal text to numbers, exactly: integers, decimals, and floating point rounded to the nearest, ties to even.
#pragma once

#include "text_cursor.cuh"

namespace millrace {

constexpr int32_t MAX_DIGITS = 19;  // that a word always holds
constexpr int32_t MAX_EXPONENT = 1 << 27;  // as it is written; larger ones count as this

// A number as it is written: the digits are significant * 10^exponent, and more behind the significant ones if any were dropped.
struct NumberText {
  bool is_negative;
  bool is_integer;       // neither a point nor an exponent
  bool has_more_digits;  // behind MAX_DIGITS, and not all zero
  uint64_t significant;
  int32_t exponent;
  int32_t first_digit;   // position of the first digit
  int32_t integer_digits;
  int32_t digits;        // with those behind the point
  int32_t written_exponent;
};

struct NumberDigits {
  int32_t count;        // of significant ones in `significant`
  int32_t dropped;      // behind them
};

static __device__ __forceinline__ void add_digit(NumberText& number, NumberDigits& digits, int32_t digit) {
  ++number.digits;
  if (digits.count < MAX_DIGITS) {
    number.significant = number.significant * 10 + digit;
    digits.count += number.significant != 0;
  } else {
    ++digits.dropped;
    number.has_more_digits |= digit != 0;
  }
}

// Reads a number: of JSON, or as BigDecimal does, which also takes a plus, zeros in front, and a point at either end. False if
// there is none.
static __device__ __forceinline__ bool read_number(TextCursor& text, bool is_json, NumberText& number) {
  number = {};
  number.is_integer = true;
  number.is_negative = text.take('-');
  if (!is_json && !number.is_negative) text.take('+');
  number.first_digit = text.at;
  NumberDigits digits = {};
  const bool is_zero_first = text.peek() == '0';
  while (is_digit(text.peek())) add_digit(number, digits, text.next() - '0');
  number.integer_digits = number.digits;
  if (is_json && (number.digits == 0 || (is_zero_first && number.digits > 1))) return false;
  if (text.take('.')) {
    number.is_integer = false;
    while (is_digit(text.peek())) add_digit(number, digits, text.next() - '0');
    if (is_json && number.digits == number.integer_digits) return false;
  }
  if (number.digits == 0) return false;
  const int32_t byte = text.peek();
  if (byte == 'e' || byte == 'E') {
    number.is_integer = false;
    ++text.at;
    const bool is_negative = text.take('-');
    if (!is_negative) text.take('+');
    if (!is_digit(text.peek())) return false;
    int32_t exponent = 0;
    while (is_digit(text.peek())) exponent = min(exponent * 10 + (text.next() - '0'), MAX_EXPONENT);
    number.written_exponent = is_negative ? -exponent : exponent;
  }
  number.exponent = number.written_exponent - (number.digits - number.integer_digits) + digits.dropped;
  return true;
}

// The value of an integer; false if it is out of a range around zero, such as -128 to 127.
static __device__ __forceinline__ bool integer_of(const NumberText& number, int32_t bytes, int64_t& value) {
  const uint64_t limit = (uint64_t{1} << (bytes * 8 - 1)) - (number.is_negative ? 0 : 1);
  // 20 digits may be all that a word holds, but not what int64 does.
  if (number.exponent != 0 || number.significant > limit) return false;
  value = static_cast<int64_t>(number.is_negative ? 0 - number.significant : number.significant);
  return true;
}

struct Wide128 {
  uint64_t low;
  uint64_t high;

  __device__ __forceinline__ void multiply_add(uint32_t factor, uint32_t addend) {
    const uint64_t product = low * factor;
    const uint64_t carry = __umul64hi(low, factor);
    low = product + addend;
    high = high * factor + carry + (low < product);
  }

  __device__ __forceinline__ void negate() {
    low = 0 - low;
    high = ~high + (low == 0);
  }
};

// The unscaled value of a decimal with `scale` digits behind the point, rounded half up; false if it has more than `precision`
// digits. Reads the digits again.
static __device__ __forceinline__ bool decimal_of(TextCursor text, const NumberText& number, int32_t precision, int32_t scale,
                                                  Wide128& value) {
  value = {};
  if (number.written_exponent == MAX_EXPONENT) return number.significant == 0;
  // Digits that are kept: those up to the one with the weight of the last place.
  const int32_t kept = number.integer_digits + number.written_exponent + scale;
  text.at = number.first_digit;
  int32_t significant = 0;
  for (int32_t i = 0; i < number.digits && i < kept; ++i) {
    int32_t byte = text.next();
    if (byte == '.') byte = text.next();
    if (significant > 0 || byte != '0') ++significant;
    if (significant > precision) return false;
    value.multiply_add(10, byte - '0');
  }
  for (int32_t i = number.digits; i < kept && significant > 0; ++i) {
    if (++significant > precision) return false;
    value.multiply_add(10, 0);
  }
  if (kept >= 0 && kept < number.digits) {
    int32_t byte = text.next();
    if (byte == '.') byte = text.next();
    if (byte >= '5') {
      value.multiply_add(1, 1);
      Wide128 limit = {1, 0};
      for (int32_t i = 0; i < precision; ++i) limit.multiply_add(10, 0);
      if (value.low == limit.low && value.high == limit.high) return false;
    }
  }
  if (number.is_negative) value.negate();
  return true;
}

// A format of IEEE 754, and where its rounding can meet a tie.
struct FloatFormat {
  int32_t mantissa_bits;  // without the first one
  int32_t bias;
  int32_t infinity;       // the exponent of infinities
  int32_t least_tie;      // exponents of ten
  int32_t most_tie;
};

static __device__ __forceinline__ FloatFormat float_format(int32_t bytes) {
  if (bytes == 8) return {52, 1023, 0x7ff, -4, 23};
  return {23, 127, 0xff, -17, 10};
}

constexpr int32_t MIN_POWER = -342;  // of ten, in the table of powers of five; Java repeats it
constexpr int32_t MAX_POWER = 308;

// The bits of significant * 10^exponent without its sign; the exponent of infinity if it is too large.
//
// Lemire, "Number Parsing at a Gigabyte per Second" (2021); Mushtak and Lemire, "Fast Number Parsing Without Fallback" (2022): the
// product with 128 bits of a power of five, the second half of it only where the first does not decide.
static __device__ __forceinline__ uint64_t float_bits(const uint64_t* powers, const FloatFormat& format, uint64_t significant,
                                                      int32_t exponent) {
  const uint64_t infinity = static_cast<uint64_t>(format.infinity) << format.mantissa_bits;
  if (significant == 0 || exponent < MIN_POWER) return 0;
  if (exponent > MAX_POWER) return infinity;
  const int32_t zeros = __clzll(static_cast<int64_t>(significant));
  const uint64_t word = significant << zeros;
  const uint64_t* power = powers + 2 * (exponent - MIN_POWER);
  uint64_t low = word * power[0];
  uint64_t high = __umul64hi(word, power[0]);
  const uint64_t undecided = ~uint64_t{0} >> (format.mantissa_bits + 3);
  if ((high & undecided) == undecided) {
    const uint64_t more = __umul64hi(word, power[1]);
    low += more;
    high += low < more;
  }
  const int32_t upper = static_cast<int32_t>(high >> 63);
  const int32_t shift = upper + 64 - format.mantissa_bits - 3;
  uint64_t mantissa = high >> shift;
  // The exponent of two of 10^exponent is floor(exponent * log2(10)).
  int32_t binary = ((217706 * exponent) >> 16) + 63 + upper - zeros + format.bias;
  if (binary <= 0) {
    if (1 - binary >= 64) return 0;
    mantissa >>= 1 - binary;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    return mantissa;  // a carry into the exponent makes the least normal number
  }
  const bool is_tie = low <= 1 && exponent >= format.least_tie && exponent <= format.most_tie && (mantissa & 3) == 1 &&
                      mantissa << shift == high;
  if (is_tie) mantissa &= ~uint64_t{1};
  mantissa = (mantissa + (mantissa & 1)) >> 1;
  if (mantissa >> (format.mantissa_bits + 1) != 0) {
    mantissa >>= 1;
    ++binary;
  }
  if (binary >= format.infinity) return infinity;
  return (mantissa & ~(uint64_t{1} << format.mantissa_bits)) | static_cast<uint64_t>(binary) << format.mantissa_bits;
}

enum FloatOutcome : int32_t { FLOAT_EXACT, FLOAT_TOO_LARGE, FLOAT_UNDECIDED };

// The bits of a number with its sign. FLOAT_UNDECIDED if the digits behind MAX_DIGITS decide how it is rounded.
static __device__ __forceinline__ FloatOutcome float_of(const uint64_t* powers, const FloatFormat& format,
                                                        const NumberText& number, uint64_t& bits) {
  bits = float_bits(powers, format, number.significant, number.exponent);
  FloatOutcome outcome = FLOAT_EXACT;
  if (number.has_more_digits && bits != float_bits(powers, format, number.significant + 1, number.exponent)) {
    outcome = FLOAT_UNDECIDED;
  } else if (bits >> format.mantissa_bits == static_cast<uint64_t>(format.infinity)) {
    outcome = FLOAT_TOO_LARGE;
  }
  if (number.is_negative) bits |= static_cast<uint64_t>(format.infinity + 1) << format.mantissa_bits;
  return outcome;
}

}  // namespace millrace
