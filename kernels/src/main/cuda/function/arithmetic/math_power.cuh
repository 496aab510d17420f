// SPDX-License-Identifier: Apache-2.0
// x^y: the algorithm of fdlibm's e_pow.c (Sun Microsystems, 1993 to 2004).
//
// log2(x) to 53 + 24 bits as the sum of two doubles; times y in two parts; 2 to the power of that.

#pragma once

#include "math_double_double.cuh"
#include "math_exponential.cuh"

namespace millrace {

enum class Integrality { NONE, ODD, EVEN };

__device__ inline Integrality integrality(double y) {
  double magnitude = fabs(y);
  if (magnitude >= 9007199254740992.0) {  // 2^53
    return Integrality::EVEN;
  }
  if (magnitude != floor(magnitude)) {
    return Integrality::NONE;
  }
  return (static_cast<int64_t>(magnitude) & 1) == 0 ? Integrality::EVEN : Integrality::ODD;
}

// log2(x) for |x - 1| < 2^-20, in parts of which the first has 20 bits of fraction.
__device__ inline DoubleDouble logarithm_near_one(double x) {
  double t = x - 1.0;
  double w = (t * t) * (0.5 - t * (0.3333333333333333333333 - t * 0.25));
  double u = 1.44269502162933349609e+00 * t;
  double v = t * 1.92596299112661746887e-08 - w * INVERSE_LN2;
  double high = clear_low_word(u + v);
  return {high, v - (high - u)};
}

// log2(x) for positive finite x, in parts of which the first has 20 bits of fraction.
__device__ inline DoubleDouble base_two_logarithm(double x) {
  int32_t n = 0;
  if (high_word(x) < 0x00100000) {
    x *= power_of_two(53);
    n = -53;
  }
  n += (high_word(x) >> 20) - 0x3ff;
  int32_t fraction = high_word(x) & 0x000fffff;
  int32_t high = fraction | 0x3ff00000;
  bool near_three_halves = fraction > 0x3988e && fraction < 0xbb67a;  // sqrt(3 / 2) < x < sqrt(3)
  if (fraction >= 0xbb67a) {
    n++;
    high -= 0x00100000;
  }
  x = with_high_word(x, high);
  double base = near_three_halves ? 1.5 : 1.0;
  double u = x - base;
  double v = 1.0 / (x + base);
  double s = u * v;
  double s_high = clear_low_word(s);
  double t_high = from_words(((high >> 1) | 0x20000000) + 0x00080000 + (near_three_halves ? 0x00040000 : 0), 0);
  double t_low = x - (t_high - base);
  double s_low = v * ((u - s_high * t_high) - s_high * t_low);
  double square = s * s;
  double r = square * square *
             (5.99999999999994648725e-01 +
              square * (4.28571428578550184252e-01 +
                        square * (3.33333329818377432918e-01 +
                                  square * (2.72728123808534006489e-01 +
                                            square * (2.30660745775561754067e-01 +
                                                      square * 2.06975017800338417784e-01)))));
  r += s_low * (s_high + s);
  square = s_high * s_high;
  t_high = clear_low_word(3.0 + square + r);
  t_low = r - ((t_high - 3.0) - square);
  u = s_high * t_high;
  v = s_low * t_high + t_low * s;
  double p_high = clear_low_word(u + v);
  double p_low = v - (p_high - u);
  double z_high = 9.61796700954437255859e-01 * p_high;  // 2 / (3 ln2) in two parts
  double z_low = -7.02846165095275826516e-09 * p_high + p_low * 9.61796693925975554329e-01 +
                 (near_three_halves ? 1.35003920212974897128e-08 : 0.0);
  double base_logarithm = near_three_halves ? 5.84962487220764160156e-01 : 0.0;
  double exponent = n;
  double result = clear_low_word(((z_high + z_low) + base_logarithm) + exponent);
  return {result, z_low - (((result - exponent) - base_logarithm) - z_high)};
}

// sign * 2^(high + low).
__device__ inline double power_of_two_of_sum(double high, double low, double sign) {
  double z = low + high;
  int32_t word = high_word(z);
  if (word >= 0x40900000) {  // z >= 1024
    bool beyond = z != 1024.0 || low + 8.0085662595372944372e-17 > z - high;
    if (beyond) {
      return sign * positive_infinity();
    }
  } else if ((word & 0x7fffffff) >= 0x4090cc00) {  // z <= -1075
    bool beyond = z != -1075.0 || low <= z - high;
    if (beyond) {
      return sign * 0.0;
    }
  }
  int32_t magnitude = word & 0x7fffffff;
  int32_t n = 0;
  if (magnitude > 0x3fe00000) {  // |z| > 0.5: n = the integer nearest to z
    int32_t shift = (magnitude >> 20) - 0x3ff;
    n = word + (0x00100000 >> (shift + 1));
    shift = ((n & 0x7fffffff) >> 20) - 0x3ff;
    high -= from_words(n & ~(0x000fffff >> shift), 0);
    n = ((n & 0x000fffff) | 0x00100000) >> (20 - shift);
    n = word < 0 ? -n : n;
  }
  double t = clear_low_word(low + high);
  double u = t * 6.93147182464599609375e-01;  // ln2 in two parts
  double v = (low - (t - high)) * 6.93147180559945286227e-01 + t * -1.90465429995776804525e-09;
  z = u + v;
  double w = v - (z - u);
  double c = z - exp_remainder(z * z);
  double r = (z * c) / (c - 2.0) - (w + z * w);
  z = 1.0 - (r - z);
  bool subnormal = (high_word(z) >> 20) + n <= 0;
  return sign * (subnormal ? add_exponent(z, n + 54) * power_of_two(-54) : add_exponent(z, n));
}

// x^y where y is infinite.
__device__ inline double infinite_power(double x, double y) {
  double magnitude = fabs(x);
  if (magnitude == 1.0) {
    return not_a_number();
  }
  return (magnitude > 1.0) == (y > 0.0) ? positive_infinity() : 0.0;
}

__device__ __noinline__ double power(double x, double y) {
  if (y == 0.0) {
    return 1.0;
  }
  if (x != x || y != y) {
    return not_a_number();
  }
  double magnitude = fabs(x);
  double infinity = positive_infinity();
  if (fabs(y) == infinity) {
    return infinite_power(x, y);
  }
  if (y == 1.0) {
    return x;
  }
  if (y == -1.0) {
    return 1.0 / x;
  }
  if (y == 2.0) {
    return x * x;
  }
  if (y == 0.5 && high_word(x) >= 0) {
    return sqrt(x);
  }
  bool negative = high_word(x) < 0;
  Integrality exponent = negative ? integrality(y) : Integrality::NONE;
  if (x == 0.0 || magnitude == infinity) {
    double result = y < 0.0 ? 1.0 / magnitude : magnitude;
    return negative && exponent == Integrality::ODD ? -result : result;
  }
  if (negative && exponent == Integrality::NONE) {
    return not_a_number();
  }
  double sign = exponent == Integrality::ODD ? -1.0 : 1.0;
  if (magnitude == 1.0) {
    return sign;
  }
  DoubleDouble logarithm;
  if ((high_word(y) & 0x7fffffff) > 0x41e00000) {  // |y| > 2^31
    int32_t high = high_word(magnitude);
    if (high < 0x3fefffff || high > 0x3ff00000) {
      return (magnitude > 1.0) == (y > 0.0) ? sign * infinity : sign * 0.0;
    }
    logarithm = logarithm_near_one(magnitude);
  } else {
    logarithm = base_two_logarithm(magnitude);
  }
  double y_high = clear_low_word(y);
  return power_of_two_of_sum(y_high * logarithm.high, (y - y_high) * logarithm.high + y * logarithm.low, sign);
}

}  // namespace millrace
