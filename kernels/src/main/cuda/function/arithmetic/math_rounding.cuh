// SPDX-License-Identifier: Apache-2.0
// ROUND and TRUNCATE at a decimal digit.
//
// Flink rounds the decimal that Double.toString prints, which lies somewhere in the interval of numbers that round to
// the double. A decimal of at most 15 digits and below 2^53 is what is printed for the double nearest to it. So the
// printed decimal is at or above such a boundary exactly if the double is at or above the double nearest to the
// boundary, which one correctly rounded division or multiplication gives. Other boundaries are for the host to decide.

#pragma once

#include "function/function.cuh"
#include "math_bits.cuh"

namespace millrace {

constexpr int32_t LARGEST_POWER_OF_TEN = 22;  // that a double holds exactly
constexpr double CERTAIN_DIGITS = 1e14;       // halves of smaller integers have at most 15 digits
constexpr double EXACT_HALVES = 0x1p51;       // twice a smaller integer plus one is exact
constexpr double PRINTED_DIGITS = 1e18;       // Double.toString prints at most 18 digits
constexpr double EXACT_INTEGERS = 0x1p53;
constexpr int32_t TOO_MANY_DIGITS = 536870920;  // for Java's BigInteger to make the power of ten
constexpr double MIN_DECIMAL = 1e-18;

__device__ const double POWERS_OF_TEN[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

__device__ const uint64_t INTEGER_POWERS_OF_TEN[] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    1000000000000000000,
    10000000000000000000u,
};

// The double nearest to numerator / divisor * 10^-digits, for an integer below 2^53 and a divisor of 1 or 2.
__device__ inline double nearest_double(double numerator, double divisor, int32_t digits) {
  return digits >= 0 ? numerator / (divisor * POWERS_OF_TEN[digits])
                     : numerator * (POWERS_OF_TEN[-digits] / divisor);
}

__device__ inline double scale_by_power_of_ten(double magnitude, int32_t digits) {
  return digits >= 0 ? magnitude * POWERS_OF_TEN[digits] : magnitude / POWERS_OF_TEN[-digits];
}

__device__ inline double with_sign_of(double magnitude, double x) {
  return x < 0.0 && magnitude != 0.0 ? -magnitude : magnitude;
}

// ROUND(x, digits), half away from zero.
__device__ inline Outcome<double> round_double(double x, int32_t digits) {
  double magnitude = fabs(x);
  if (!(magnitude < positive_infinity())) return none<double>(INVALID_ARGUMENT);
  bool too_many = digits >= TOO_MANY_DIGITS || digits <= -TOO_MANY_DIGITS;
  if (too_many && magnitude > 0.0) return none<double>(INVALID_ARGUMENT);
  if (digits >= 0 && magnitude == floor(magnitude)) return value(x + 0.0);
  if (digits < -LARGEST_POWER_OF_TEN) return magnitude < 1e22 ? value(0.0) : none<double>(NEEDS_HOST);
  if (digits > LARGEST_POWER_OF_TEN) return magnitude >= 1e-3 ? value(x) : none<double>(NEEDS_HOST);
  double scaled = scale_by_power_of_ten(magnitude, digits);
  if (scaled >= PRINTED_DIGITS) return value(x);
  if (scaled >= EXACT_HALVES) return none<double>(NEEDS_HOST);
  double whole = floor(scaled);
  double half = nearest_double(2.0 * whole + 1.0, 2.0, digits);
  bool uncertain = scaled >= CERTAIN_DIGITS || magnitude >= EXACT_INTEGERS;
  if (magnitude == half && uncertain) return none<double>(NEEDS_HOST);
  return value(with_sign_of(nearest_double(magnitude >= half ? whole + 1.0 : whole, 1.0, digits), x));
}

// TRUNCATE(x, digits), by way of a DECIMAL(38, 18).
__device__ inline Outcome<double> truncate_double(double x, int32_t digits) {
  double magnitude = fabs(x);
  if (!(magnitude < 1e20)) return none<double>(INVALID_ARGUMENT);
  if (digits <= -TOO_MANY_DIGITS && magnitude > 0.0) {
    return none<double>(magnitude >= MIN_DECIMAL ? INVALID_ARGUMENT : NEEDS_HOST);
  }
  if (digits >= 0 && magnitude == floor(magnitude)) return value(x + 0.0);
  if (digits < -LARGEST_POWER_OF_TEN) return value(0.0);
  if (digits >= 18) return magnitude >= 0.1 ? value(x) : none<double>(NEEDS_HOST);
  double scaled = scale_by_power_of_ten(magnitude, digits);
  if (scaled >= PRINTED_DIGITS) return value(x);
  if (scaled >= CERTAIN_DIGITS || (digits < 0 && magnitude >= EXACT_INTEGERS)) return none<double>(NEEDS_HOST);
  double whole = floor(scaled);
  if (nearest_double(whole, 1.0, digits) > magnitude) {
    whole -= 1.0;
  } else if (nearest_double(whole + 1.0, 1.0, digits) <= magnitude) {
    whole += 1.0;
  }
  // The decimal may round up to the next boundary at its eighteenth digit.
  bool may_round_up = magnitude < 1.0 && nearest_double(whole + 1.0, 1.0, digits) - magnitude < 1e-17;
  if (may_round_up) return none<double>(NEEDS_HOST);
  return value(with_sign_of(nearest_double(whole, 1.0, digits), x));
}

// The digits that an integer is rounded to, which fail where Flink's do.
__device__ inline Outcome<int32_t> rounding_digits(int64_t x, int32_t digits, int32_t most) {
  bool too_many = digits > most || digits <= -TOO_MANY_DIGITS;
  return too_many && x != 0 ? none<int32_t>(INVALID_ARGUMENT) : value(digits);
}

// ROUND(x, digits), half away from zero; what does not fit wraps.
__device__ inline int64_t round_integer(int64_t x, int32_t digits) {
  if (digits >= 0) return x;
  if (digits < -19) return 0;
  uint64_t power = INTEGER_POWERS_OF_TEN[-digits];
  uint64_t magnitude = x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  uint64_t rest = magnitude % power;
  magnitude += rest >= power - rest ? power - rest : 0 - rest;
  return static_cast<int64_t>(x < 0 ? 0 - magnitude : magnitude);
}

// TRUNCATE(x, digits).
__device__ inline int64_t truncate_integer(int64_t x, int32_t digits) {
  if (digits >= 0) return x;
  if (digits < -18) return 0;
  return x - x % static_cast<int64_t>(INTEGER_POWERS_OF_TEN[-digits]);
}

}  // namespace millrace
