// SPDX-License-Identifier: Apache-2.0
// Numbers of about 106 bits as the sum of two doubles (T. J. Dekker, "A floating-point technique for extending the
// available precision", 1971; D. E. Knuth for the sum).

#pragma once

#include "math_bits.cuh"

namespace millrace {

// high + low, where low is at most half a unit in the last place of high unless it is said otherwise.
struct DoubleDouble {
  double high;
  double low;
};

// a + b exactly.
__device__ inline DoubleDouble sum_of(double a, double b) {
  double high = a + b;
  double rounded = high - a;
  return {high, (a - (high - rounded)) + (b - rounded)};
}

// a * b exactly.
__device__ inline DoubleDouble product_of(double a, double b) {
  constexpr double SPLIT = 134217729.0;  // 2^27 + 1
  double a_high = SPLIT * a - (SPLIT * a - a);
  double a_low = a - a_high;
  double b_high = SPLIT * b - (SPLIT * b - b);
  double b_low = b - b_high;
  double high = a * b;
  return {high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

// For |low| <= |high|.
__device__ inline DoubleDouble normalized(double high, double low) {
  double sum = high + low;
  return {sum, low - (sum - high)};
}

__device__ inline DoubleDouble multiply(DoubleDouble a, DoubleDouble b) {
  DoubleDouble product = product_of(a.high, b.high);
  return normalized(product.high, product.low + (a.high * b.low + a.low * b.high));
}

__device__ inline DoubleDouble divide(DoubleDouble a, DoubleDouble b) {
  double quotient = a.high / b.high;
  DoubleDouble product = product_of(quotient, b.high);
  double rest = ((a.high - product.high) - product.low) + a.low - quotient * b.low;
  return normalized(quotient, rest / b.high);
}

}  // namespace millrace
