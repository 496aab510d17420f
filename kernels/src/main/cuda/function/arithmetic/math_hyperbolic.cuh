// SPDX-License-Identifier: Apache-2.0
// sinh, cosh and tanh: the algorithms of fdlibm's e_sinh.c, e_cosh.c and s_tanh.c (Sun Microsystems, 1993 to 2004).

#pragma once

#include "math_bits.cuh"
#include "math_exponential.cuh"

namespace millrace {

// Largest |x| whose sinh and cosh are finite.
constexpr double HYPERBOLIC_OVERFLOW = 7.10475860073943863426e+02;

// e^|x| / 2 for |x| >= 22, where e^-|x| is below half a unit in the last place.
__device__ inline double half_exponential(double magnitude) {
  if (high_word(magnitude) < 0x40862e42) {  // |x| < ln(largest double)
    return 0.5 * exponential(magnitude);
  }
  double root = exponential(0.5 * magnitude);
  return 0.5 * root * root;
}

__device__ inline double hyperbolic_sine(double x) {
  double magnitude = fabs(x);
  int32_t high = high_word(magnitude);
  if (high >= 0x7ff00000) {
    return x;
  }
  double half = x < 0.0 ? -0.5 : 0.5;
  if (high < 0x40360000) {  // |x| < 22
    if (high < 0x3e300000) {  // |x| < 2^-28
      return x;
    }
    double t = exponential_minus_one(magnitude);
    return high < 0x3ff00000 ? half * (2.0 * t - t * t / (t + 1.0)) : half * (t + t / (t + 1.0));
  }
  if (magnitude > HYPERBOLIC_OVERFLOW) {
    return x < 0.0 ? -positive_infinity() : positive_infinity();
  }
  double result = half_exponential(magnitude);
  return x < 0.0 ? -result : result;
}

__device__ inline double hyperbolic_cosine(double x) {
  double magnitude = fabs(x);
  int32_t high = high_word(magnitude);
  if (high >= 0x7ff00000) {
    return magnitude;
  }
  if (high < 0x3fd62e43) {  // |x| < ln2 / 2
    double t = exponential_minus_one(magnitude);
    double w = 1.0 + t;
    return high < 0x3c800000 ? w : 1.0 + (t * t) / (w + w);
  }
  if (high < 0x40360000) {  // |x| < 22
    double t = exponential(magnitude);
    return 0.5 * t + 0.5 / t;
  }
  return magnitude > HYPERBOLIC_OVERFLOW ? positive_infinity() : half_exponential(magnitude);
}

__device__ inline double hyperbolic_tangent(double x) {
  double magnitude = fabs(x);
  int32_t high = high_word(magnitude);
  if (x != x) {
    return x;
  }
  double result = 1.0;
  if (high < 0x40360000) {  // |x| < 22
    if (high < 0x3c800000) {  // |x| < 2^-55
      return x * (1.0 + x);
    }
    if (high >= 0x3ff00000) {
      result = 1.0 - 2.0 / (exponential_minus_one(2.0 * magnitude) + 2.0);
    } else {
      double t = exponential_minus_one(-2.0 * magnitude);
      result = -t / (t + 2.0);
    }
  }
  return x < 0.0 ? -result : result;
}

}  // namespace millrace
