// SPDX-License-Identifier: Apache-2.0
// e^x and e^x - 1: the algorithms of fdlibm's e_exp.c and s_expm1.c (Sun Microsystems, 1993 to 2004).
//
// x = k ln2 + r with |r| <= ln2 / 2; e^r by a rational function of r; the result is scaled by 2^k.

#pragma once

#include "math_bits.cuh"

namespace millrace {

constexpr double LN2_HIGH = 6.93147180369123816490e-01;
constexpr double LN2_LOW = 1.90821492927058770002e-10;
constexpr double INVERSE_LN2 = 1.44269504088896338700e+00;
constexpr double EXP_OVERFLOW = 7.09782712893383973096e+02;
constexpr double EXP_UNDERFLOW = -7.45133219101941108420e+02;

// The Remez polynomial of r (e^r + 1) / (e^r - 1) - 2, of the square of r.
__device__ inline double exp_remainder(double square) {
  return square *
         (1.66666666666666019037e-01 +
          square * (-2.77777777770155933842e-03 +
                    square * (6.61375632143793436117e-05 +
                              square * (-1.65339022054652515390e-06 + square * 4.13813679705723846039e-08))));
}

__device__ __noinline__ double exponential(double x) {
  int32_t magnitude = high_word(x) & 0x7fffffff;
  bool negative = high_word(x) < 0;
  if (magnitude >= 0x40862e42) {
    if (magnitude >= 0x7ff00000) {
      return x != x ? x : negative ? 0.0 : x;
    }
    if (x > EXP_OVERFLOW) {
      return positive_infinity();
    }
    if (x < EXP_UNDERFLOW) {
      return 0.0;
    }
  }
  double high = 0.0;
  double low = 0.0;
  int32_t k = 0;
  if (magnitude > 0x3fd62e42) {  // |x| > ln2 / 2
    if (magnitude < 0x3ff0a2b2) {  // |x| < 3 ln2 / 2
      high = negative ? x + LN2_HIGH : x - LN2_HIGH;
      low = negative ? -LN2_LOW : LN2_LOW;
      k = negative ? -1 : 1;
    } else {
      k = static_cast<int32_t>(INVERSE_LN2 * x + (negative ? -0.5 : 0.5));
      double multiple = k;
      high = x - multiple * LN2_HIGH;
      low = multiple * LN2_LOW;
    }
    x = high - low;
  } else if (magnitude < 0x3e300000) {  // |x| < 2^-28
    return 1.0 + x;
  }
  double c = x - exp_remainder(x * x);
  if (k == 0) {
    return 1.0 - ((x * c) / (c - 2.0) - x);
  }
  double y = 1.0 - ((low - (x * c) / (2.0 - c)) - high);
  return k >= -1021 ? add_exponent(y, k) : add_exponent(y, k + 1000) * power_of_two(-1000);
}

// e^x - 1 for |x| < 44, which is all that the hyperbolic functions ask for.
__device__ __noinline__ double exponential_minus_one(double x) {
  int32_t magnitude = high_word(x) & 0x7fffffff;
  bool negative = high_word(x) < 0;
  double correction = 0.0;
  int32_t k = 0;
  if (magnitude > 0x3fd62e42) {  // |x| > ln2 / 2
    double high;
    double low;
    if (magnitude < 0x3ff0a2b2) {  // |x| < 3 ln2 / 2
      high = negative ? x + LN2_HIGH : x - LN2_HIGH;
      low = negative ? -LN2_LOW : LN2_LOW;
      k = negative ? -1 : 1;
    } else {
      k = static_cast<int32_t>(INVERSE_LN2 * x + (negative ? -0.5 : 0.5));
      double multiple = k;
      high = x - multiple * LN2_HIGH;
      low = multiple * LN2_LOW;
    }
    x = high - low;
    correction = (high - x) - low;
  } else if (magnitude < 0x3c900000) {  // |x| < 2^-54
    return x;
  }
  double half = 0.5 * x;
  double half_square = x * half;
  double r = 1.0 + half_square *
                       (-3.33333333333331316428e-02 +
                        half_square * (1.58730158725481460165e-03 +
                                       half_square * (-7.93650757867487942473e-05 +
                                                      half_square * (4.00821782732936239552e-06 +
                                                                     half_square * -2.01099218183624371326e-07))));
  double t = 3.0 - r * half;
  double e = half_square * ((r - t) / (6.0 - x * t));
  if (k == 0) {
    return x - (x * e - half_square);
  }
  e = x * (e - correction) - correction;
  e -= half_square;
  if (k == -1) {
    return 0.5 * (x - e) - 0.5;
  }
  if (k == 1) {
    return x < -0.25 ? -2.0 * (e - (x + 0.5)) : 1.0 + 2.0 * (x - e);
  }
  if (k <= -2 || k > 56) {
    return add_exponent(1.0 - (e - x), k) - 1.0;
  }
  if (k < 20) {
    double one_minus_power = from_words(0x3ff00000 - (0x200000 >> k), 0);  // 1 - 2^-k
    return add_exponent(one_minus_power - (e - x), k);
  }
  return add_exponent((x - (e + power_of_two(-k))) + 1.0, k);
}

}  // namespace millrace
