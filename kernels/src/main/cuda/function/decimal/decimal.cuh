// SPDX-License-Identifier: Apache-2.0
// Unsigned arithmetic below the functions of DECIMAL: 128 bits, and 256 where a product or an aligned value
// of 38 digits needs them.

#pragma once

#include "function/function.cuh"

namespace millrace {

using uint128 = unsigned __int128;

struct Wide {
  uint128 low;
  uint128 high;
};

struct Division {
  Wide quotient;
  uint128 remainder;
};

__device__ const uint64_t POWERS_OF_TEN[] = {
    1ull,
    10ull,
    100ull,
    1000ull,
    10000ull,
    100000ull,
    1000000ull,
    10000000ull,
    100000000ull,
    1000000000ull,
    10000000000ull,
    100000000000ull,
    1000000000000ull,
    10000000000000ull,
    100000000000000ull,
    1000000000000000ull,
    10000000000000000ull,
    100000000000000000ull,
    1000000000000000000ull,
    10000000000000000000ull,
};

// exponent is 0 to 38.
__device__ inline uint128 power_of_ten(int32_t exponent) {
  return exponent < 20 ? uint128{POWERS_OF_TEN[exponent]}
                       : uint128{POWERS_OF_TEN[19]} * POWERS_OF_TEN[exponent - 19];
}

__device__ inline bool fits_64_bits(uint128 value) { return value >> 64 == 0; }

__device__ inline Wide multiply(uint128 a, uint128 b) {
  uint64_t a0 = a, a1 = a >> 64, b0 = b, b1 = b >> 64;
  uint128 low = uint128{a0} * b0;
  if ((a1 | b1) == 0) return {low, 0};
  uint128 middle = uint128{a1} * b0 + (low >> 64);
  uint128 carry = middle >> 64;
  middle = uint128{a0} * b1 + static_cast<uint64_t>(middle);
  return {middle << 64 | static_cast<uint64_t>(low), uint128{a1} * b1 + carry + (middle >> 64)};
}

__device__ inline bool less(Wide a, Wide b) {
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}

__device__ inline Wide add(Wide a, Wide b) {
  uint128 low = a.low + b.low;
  return {low, a.high + b.high + (low < a.low)};
}

__device__ inline Wide subtract(Wide a, Wide b) {
  return {a.low - b.low, a.high - b.high - (a.low < b.low)};
}

// One digit of Knuth's algorithm D in base 2^64: divides remainder * 2^64 + next by the divisor, whose highest
// bit is set and which is more than the remainder.
__device__ inline uint64_t quotient_digit(uint128& remainder, uint64_t next, uint128 divisor) {
  uint64_t high = divisor >> 64, low = divisor;
  uint64_t digit = static_cast<uint64_t>(remainder >> 64) == high ? UINT64_MAX : remainder / high;
  uint128 rest = remainder - uint128{digit} * high;
  uint128 product = uint128{digit} * low;
  while (fits_64_bits(rest) && product > (rest << 64 | next)) {
    --digit;
    rest += high;
    product -= low;
  }
  remainder = (rest << 64 | next) - product;
  return digit;
}

// divisor is not 0.
static __device__ __noinline__ Division divide_wide(Wide dividend, uint128 divisor) {
  uint64_t top = divisor >> 64;
  int32_t shift = top != 0 ? __clzll(top) : 64 + __clzll(static_cast<uint64_t>(divisor));
  uint128 normalized = divisor << shift;
  uint128 remainder = shift == 0 ? 0 : dividend.high >> (128 - shift);
  uint128 upper = dividend.high << shift | (shift == 0 ? 0 : dividend.low >> (128 - shift));
  uint128 lower = dividend.low << shift;
  uint128 q3 = quotient_digit(remainder, upper >> 64, normalized);
  uint128 q2 = quotient_digit(remainder, upper, normalized);
  uint128 q1 = quotient_digit(remainder, lower >> 64, normalized);
  uint128 q0 = quotient_digit(remainder, lower, normalized);
  return {{q1 << 64 | q0, q3 << 64 | q2}, remainder >> shift};
}

__device__ inline Division divide(Wide dividend, uint128 divisor) {
  if (dividend.high != 0) return divide_wide(dividend, divisor);
  if (fits_64_bits(dividend.low) && fits_64_bits(divisor)) {
    uint64_t quotient = static_cast<uint64_t>(dividend.low) / static_cast<uint64_t>(divisor);
    uint64_t remainder = static_cast<uint64_t>(dividend.low) - quotient * static_cast<uint64_t>(divisor);
    return {{quotient, 0}, remainder};
  }
  uint128 quotient = dividend.low / divisor;
  return {{quotient, 0}, dividend.low - quotient * divisor};
}

__device__ inline bool is_negative(Decimal value) { return value.high < 0; }

__device__ inline uint128 magnitude(Decimal value) {
  uint128 bits = uint128{static_cast<uint64_t>(value.high)} << 64 | value.low;
  return is_negative(value) ? -bits : bits;
}

__device__ inline Decimal to_decimal(uint128 magnitude, bool negative) {
  uint128 bits = negative ? -magnitude : magnitude;
  return {static_cast<uint64_t>(bits), static_cast<int64_t>(bits >> 64)};
}

// Null where the magnitude has more digits than the precision.
__device__ inline Outcome<Decimal> checked(Wide magnitude, bool negative, int32_t precision) {
  if (magnitude.high != 0 || magnitude.low >= power_of_ten(precision)) return none<Decimal>(NULL_VALUE);
  return value(to_decimal(magnitude.low, negative));
}

// The same numbers as io.millrace.expression.function.decimal.DecimalRounding.
enum Rounding : int32_t { HALF_UP = 0, DOWN = 1, FLOOR = 2, CEILING = 3 };

__device__ inline bool rounds_up(uint128 remainder, uint128 divisor, bool negative, int32_t rounding) {
  switch (rounding) {
    case HALF_UP: return remainder >= divisor - remainder;
    case FLOOR: return negative && remainder != 0;
    case CEILING: return !negative && remainder != 0;
    default: return false;
  }
}

// The value without its last digits, up to 38; up to 76 if rounding is HALF_UP or DOWN, which digits far behind do
// not matter to.
__device__ inline Wide drop_digits(Wide value, int32_t digits, bool negative, int32_t rounding) {
  if (digits == 0) return value;
  if (digits > 38) {
    value = divide(value, power_of_ten(digits - 38)).quotient;
    digits = 38;
  }
  uint128 divisor = power_of_ten(digits);
  Division division = divide(value, divisor);
  bool up = rounds_up(division.remainder, divisor, negative, rounding);
  return add(division.quotient, {up ? 1u : 0u, 0});
}

}  // namespace millrace
