// SPDX-License-Identifier: Apache-2.0
// Logarithms to about 64 bits, so that rounding them gives the nearest double except in about one of a thousand cases.
//
// x = 2^k m with m in [sqrt(1/2), sqrt(2)]; ln(m) = 2 artanh(s) with s = (m - 1) / (m + 1), by its power series.

#pragma once

#include "math_double_double.cuh"

namespace millrace {

// (2 artanh(s) / s - 2) / s^2 - 2 / 3, of the square of s.
__device__ inline double artanh_remainder(double square) {
  double sum = 2.0 / 23;
  sum = 2.0 / 21 + square * sum;
  sum = 2.0 / 19 + square * sum;
  sum = 2.0 / 17 + square * sum;
  sum = 2.0 / 15 + square * sum;
  sum = 2.0 / 13 + square * sum;
  sum = 2.0 / 11 + square * sum;
  sum = 2.0 / 9 + square * sum;
  sum = 2.0 / 7 + square * sum;
  sum = 2.0 / 5 + square * sum;
  return square * sum;
}

__device__ __noinline__ DoubleDouble natural_logarithm(double x) {
  if (!(x > 0.0) || x == positive_infinity()) {
    return {x < 0.0 ? not_a_number() : x == 0.0 ? -positive_infinity() : x, 0.0};
  }
  int32_t k = -1023;
  if (high_word(x) < 0x00100000) {  // x < 2^-1022
    x *= power_of_two(54);
    k -= 54;
  }
  k += high_word(x) >> 20;
  int32_t fraction = high_word(x) & 0x000fffff;
  int32_t above = fraction >= 0x6a09e ? 1 : 0;  // sqrt(2)
  k += above;
  double m = with_high_word(x, fraction | ((0x3ff - above) << 20));
  DoubleDouble s = divide({m - 1.0, 0.0}, sum_of(m, 1.0));
  DoubleDouble square = multiply(s, s);
  DoubleDouble coefficient = sum_of(6.66666666666666629659e-01, artanh_remainder(square.high));
  coefficient.low += 3.70074341541718826365e-17;
  DoubleDouble series = multiply(square, coefficient);
  DoubleDouble factor = sum_of(2.0, series.high);
  factor.low += series.low;
  DoubleDouble reduced = multiply(s, factor);
  double exponent = k;
  DoubleDouble sum = sum_of(exponent * 6.93147180369123816490e-01, reduced.high);  // ln(2) in two parts
  return normalized(sum.high, sum.low + (reduced.low + exponent * 1.90821492927058770002e-10));
}

// A quotient as of logarithms that were rounded to doubles; of one that is so near to the middle of two doubles that
// another algorithm may round it to either, as if it was not rounded, so that the quotient is near to both.
__device__ inline DoubleDouble rounded_if_certain(DoubleDouble logarithm) {
  bool certain = logarithm.high + logarithm.low * 1.001 == logarithm.high;
  return certain ? DoubleDouble{logarithm.high, 0.0} : logarithm;
}

__device__ inline double quotient_of_logarithms(DoubleDouble dividend, DoubleDouble divisor) {
  DoubleDouble a = rounded_if_certain(dividend);
  DoubleDouble b = rounded_if_certain(divisor);
  double quotient = a.high / b.high;
  bool exact = a.low == 0.0 && b.low == 0.0;
  bool finite = fabs(quotient) < positive_infinity() && fabs(b.high) < positive_infinity();
  return exact || !finite ? quotient : divide(a, b).high;
}

__device__ inline double decimal_logarithm(double x) {
  DoubleDouble logarithm = natural_logarithm(x);
  if (!(fabs(logarithm.high) < positive_infinity())) return logarithm.high;
  return multiply(logarithm, {4.34294481903251816668e-01, 1.09831965021676506785e-17}).high;
}

}  // namespace millrace
