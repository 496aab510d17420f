// SPDX-License-Identifier: Apache-2.0
// Casts between DECIMAL and the other numeric types as Flink's DecimalDataUtils does them. The constant has one byte
// for the scale of the decimal, and where it is the result one for its precision.

#include "decimal.cuh"

using namespace millrace;

namespace millrace {

// Powers of ten that are exact as DOUBLE.
__device__ const double EXACT_POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

__device__ inline double power_of_two(int32_t exponent) {
  return __longlong_as_double(static_cast<int64_t>(exponent + 1023) << 52);
}

__device__ inline int32_t bits_of(uint128 value) {
  uint64_t high = value >> 64;
  return high != 0 ? 128 - __clzll(high) : 64 - __clzll(static_cast<uint64_t>(value));
}

// bits is 0 to 127.
__device__ inline Wide shift_left(uint128 value, int32_t bits) {
  return {value << bits, bits == 0 ? 0 : value >> (128 - bits)};
}

// value / 2^bits, HALF_UP; bits is 1 to 255.
__device__ inline uint128 round_shift(Wide value, int32_t bits) {
  Wide half = bits > 128 ? Wide{0, uint128{1} << (bits - 129)} : Wide{uint128{1} << (bits - 1), 0};
  Wide sum = add(value, half);
  if (bits >= 128) return sum.high >> (bits - 128);
  return sum.low >> bits | sum.high << (128 - bits);
}

// The nearest to magnitude / 10^scale; the last bit kept stands for all that follow it.
__device__ inline double quotient_as_double(uint128 magnitude, int32_t scale) {
  uint128 divisor = power_of_ten(scale);
  int32_t missing = 65 + bits_of(divisor) - bits_of(magnitude);
  int32_t shift = missing > 0 ? missing : 0;
  Wide dividend = shift < 128 ? shift_left(magnitude, shift) : Wide{0, magnitude << (shift - 128)};
  Division division = divide(dividend, divisor);
  uint128 quotient = division.quotient.low;
  int32_t dropped = bits_of(quotient) - 64;
  uint64_t kept = quotient >> dropped;
  bool exact = division.remainder == 0 && uint128{kept} << dropped == quotient;
  return static_cast<double>(kept | (exact ? 0 : 1)) * power_of_two(dropped - shift);
}

// A decimal of at most 15 digits that is nearest to no other DOUBLE but this one: digits * 10^-scale.
struct ShortDecimal {
  uint64_t digits;
  int32_t scale;
  bool found;
};

// value is positive and below 1e15. At most one decimal of 15 digits is nearest to a DOUBLE.
__device__ inline ShortDecimal find_short_decimal(double value) {
  int32_t scale = 0;
  while (scale < 22 && value * EXACT_POWERS[scale + 1] < 1e15) scale++;
  double digits = rint(value * EXACT_POWERS[scale]);
  return {static_cast<uint64_t>(digits), scale, digits / EXACT_POWERS[scale] == value};
}

// What BigDecimal.valueOf(double) gives, rounded HALF_UP: the decimal that Double.toString prints. Its digits differ
// between releases of Java where it has more than 15; then only what all decimals next to the value round to is
// certain.
static __device__ __noinline__ Outcome<Decimal> decimal_of(double argument, const char* constant) {
  int32_t scale = constant[0], precision = constant[1];
  bool negative = argument < 0;
  double magnitude = negative ? -argument : argument;
  if (!(magnitude <= 1.7976931348623157e308)) return none<Decimal>(INVALID_CAST);
  if (magnitude == 0) return value(Decimal{0, 0});
  if (magnitude > 1e38) return none<Decimal>(NULL_VALUE);

  if (magnitude < 1e15) {
    ShortDecimal decimal = find_short_decimal(magnitude);
    if (decimal.found) {
      int32_t drop = decimal.scale - scale;
      Wide scaled = drop <= 0 ? multiply(decimal.digits, power_of_ten(-drop))
                              : drop_digits({decimal.digits, 0}, drop, negative, HALF_UP);
      return checked(scaled, negative, precision);
    }
  }

  int64_t bits = __double_as_longlong(magnitude);
  int64_t exponent_bits = bits >> 52;
  uint64_t significand = bits & 0xfffffffffffffll | (exponent_bits == 0 ? 0 : 1ll << 52);
  int32_t halves = 1076 - static_cast<int32_t>(exponent_bits == 0 ? 1 : exponent_bits);
  if (halves > 200) return value(Decimal{0, 0});
  if (halves < 1) {
    bool overflows = uint128{2 * significand - 1} << -halves >= power_of_ten(precision - scale);
    return none<Decimal>(overflows ? NULL_VALUE : NEEDS_HOST);
  }
  uint128 power = power_of_ten(scale);
  uint128 least = round_shift(multiply(2 * significand - 1, power), halves);
  uint128 most = round_shift(multiply(2 * significand + 1, power), halves);
  if (least >= power_of_ten(precision)) return none<Decimal>(NULL_VALUE);
  return least == most ? value(to_decimal(least, negative)) : none<Decimal>(NEEDS_HOST);
}

template <typename Integer>
__device__ inline Outcome<Integer> narrowed(Outcome<Decimal> wide) {
  return {static_cast<Integer>(wide.value.low), wide.status};
}

// A number with the order of Double.compare.
__device__ inline int64_t total_order(double value) {
  if (value != value) return INT64_MAX;
  int64_t bits = __double_as_longlong(value);
  return bits ^ static_cast<int64_t>(static_cast<uint64_t>(bits >> 63) >> 1);
}

}  // namespace millrace

MILLRACE_FUNCTION double decimal_to_double(uint64_t low, int64_t high, const char* constant) {
  int32_t scale = constant[0];
  uint128 unscaled = magnitude({low, high});
  if (unscaled == 0) return 0.0;
  double magnitude = unscaled >> 53 == 0 && scale <= 22
      ? static_cast<double>(static_cast<uint64_t>(unscaled)) / EXACT_POWERS[scale]
      : quotient_as_double(unscaled, scale);
  return high < 0 ? -magnitude : magnitude;
}

// The lowest 64 bits of the integral part.
MILLRACE_FUNCTION int64_t decimal_to_long(uint64_t low, int64_t high, const char* constant) {
  int32_t scale = constant[0];
  uint64_t integral = drop_digits({magnitude({low, high}), 0}, scale, high < 0, DOWN).low;
  return static_cast<int64_t>(high < 0 ? -integral : integral);
}

MILLRACE_FUNCTION Outcome<int32_t> double_to_decimal32(double argument, const char* constant) {
  return narrowed<int32_t>(decimal_of(argument, constant));
}

MILLRACE_FUNCTION Outcome<int64_t> double_to_decimal64(double argument, const char* constant) {
  return narrowed<int64_t>(decimal_of(argument, constant));
}

MILLRACE_FUNCTION Outcome<Decimal> double_to_decimal128(double argument, const char* constant) {
  return decimal_of(argument, constant);
}

// Double.compare: NaN is above all others, -0.0 below 0.0.
MILLRACE_FUNCTION int32_t double_orders_before(double left, double right) {
  return total_order(left) < total_order(right);
}

MILLRACE_FUNCTION int32_t double_orders_not_after(double left, double right) {
  return total_order(left) <= total_order(right);
}
