// SPDX-License-Identifier: Apache-2.0
// asin, acos, atan and atan2: the algorithms of fdlibm's e_asin.c, e_acos.c, s_atan.c and e_atan2.c (Sun Microsystems,
// 1993 to 2004).

#pragma once

#include "math_bits.cuh"

namespace millrace {

constexpr double PI_HIGH = 3.14159265358979311600e+00;
constexpr double PI_LOW = 1.22464679914735317720e-16;
constexpr double HALF_PI_HIGH = 1.57079632679489655800e+00;
constexpr double HALF_PI_LOW = 6.12323399573676603587e-17;
constexpr double QUARTER_PI = 7.85398163397448278999e-01;

// (asin(x) - x) / x^3, of the square of x, for |x| <= 1/2.
__device__ inline double arcsine_remainder(double square) {
  double p = square *
             (1.66666666666666657415e-01 +
              square * (-3.25565818622400915405e-01 +
                        square * (2.01212532134862925881e-01 +
                                  square * (-4.00555345006794114027e-02 +
                                            square * (7.91534994289814532176e-04 +
                                                      square * 3.47933107596021167570e-05)))));
  double q = 1.0 + square * (-2.40339491173441421878e+00 +
                             square * (2.02094576023350569471e+00 +
                                       square * (-6.88283971605453293030e-01 +
                                                 square * 7.70381505559019352791e-02)));
  return p / q;
}

__device__ inline double arc_sine(double x) {
  double magnitude = fabs(x);
  int32_t high = high_word(magnitude);
  if (magnitude == 1.0) {
    return x * HALF_PI_HIGH + x * HALF_PI_LOW;
  }
  if (high >= 0x3ff00000) {
    return not_a_number();
  }
  if (high < 0x3fe00000) {  // |x| < 1/2
    return high < 0x3e400000 ? x : x + x * arcsine_remainder(x * x);
  }
  double t = (1.0 - magnitude) * 0.5;
  double s = sqrt(t);
  double r = arcsine_remainder(t);
  double result;
  if (high >= 0x3fef3333) {  // |x| > 0.975
    result = HALF_PI_HIGH - (2.0 * (s + s * r) - HALF_PI_LOW);
  } else {
    double w = clear_low_word(s);
    double c = (t - w * w) / (s + w);
    double p = 2.0 * s * r - (HALF_PI_LOW - 2.0 * c);
    double q = QUARTER_PI - 2.0 * w;
    result = QUARTER_PI - (p - q);
  }
  return x < 0.0 ? -result : result;
}

__device__ inline double arc_cosine(double x) {
  int32_t high = high_word(x) & 0x7fffffff;
  if (fabs(x) == 1.0) {
    return x > 0.0 ? 0.0 : PI_HIGH + 2.0 * HALF_PI_LOW;
  }
  if (high >= 0x3ff00000) {
    return not_a_number();
  }
  if (high < 0x3fe00000) {  // |x| < 1/2
    return high <= 0x3c600000 ? HALF_PI_HIGH + HALF_PI_LOW
                              : HALF_PI_HIGH - (x - (HALF_PI_LOW - x * arcsine_remainder(x * x)));
  }
  if (x < 0.0) {
    double z = (1.0 + x) * 0.5;
    double s = sqrt(z);
    double w = arcsine_remainder(z) * s - HALF_PI_LOW;
    return PI_HIGH - 2.0 * (s + w);
  }
  double z = (1.0 - x) * 0.5;
  double s = sqrt(z);
  double leading = clear_low_word(s);
  double c = (z - leading * leading) / (s + leading);
  double w = arcsine_remainder(z) * s + c;
  return 2.0 * (leading + w);
}

__device__ __noinline__ double arc_tangent(double x) {
  if (x != x) {
    return x;
  }
  bool negative = high_word(x) < 0;
  double magnitude = fabs(x);
  int32_t high = high_word(magnitude);
  if (high >= 0x44100000) {  // |x| >= 2^66
    return negative ? -HALF_PI_HIGH - HALF_PI_LOW : HALF_PI_HIGH + HALF_PI_LOW;
  }
  double base_high = 0.0;  // the arc tangent of 1/2, 1, 3/2 or infinity, to which the reduced one is added
  double base_low = 0.0;
  if (high < 0x3fdc0000) {  // |x| < 7/16
    if (high < 0x3e200000) {  // |x| < 2^-29
      return x;
    }
  } else if (high < 0x3fe60000) {  // |x| < 11/16
    base_high = 4.63647609000806093515e-01;
    base_low = 2.26987774529616870924e-17;
    x = (2.0 * magnitude - 1.0) / (2.0 + magnitude);
  } else if (high < 0x3ff30000) {  // |x| < 19/16
    base_high = 7.85398163397448278999e-01;
    base_low = 3.06161699786838301793e-17;
    x = (magnitude - 1.0) / (magnitude + 1.0);
  } else if (high < 0x40038000) {  // |x| < 39/16
    base_high = 9.82793723247329054082e-01;
    base_low = 1.39033110312309984516e-17;
    x = (magnitude - 1.5) / (1.0 + 1.5 * magnitude);
  } else {
    base_high = HALF_PI_HIGH;
    base_low = HALF_PI_LOW;
    x = -1.0 / magnitude;
  }
  double z = x * x;
  double w = z * z;
  double even = z * (3.33333333333329318027e-01 +
                     w * (1.42857142725034663711e-01 +
                          w * (9.09088713343650656196e-02 +
                               w * (6.66107313738753120669e-02 +
                                    w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))));
  double odd = w * (-1.99999999998764832476e-01 +
                    w * (-1.11111104054623557880e-01 +
                         w * (-7.69187620504482999495e-02 +
                              w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))));
  if (base_high == 0.0) {
    return x - x * (even + odd);
  }
  double result = base_high - ((x * (even + odd) - base_low) - x);
  return negative ? -result : result;
}

__device__ inline double arc_tangent_of_quotient(double y, double x) {
  if (x != x || y != y) {
    return not_a_number();
  }
  if (x == 1.0) {
    return arc_tangent(y);
  }
  bool left = high_word(x) < 0;
  bool below = high_word(y) < 0;
  double result;
  if (y == 0.0) {
    result = left ? PI_HIGH : 0.0;
    return below ? -result : result;
  }
  double infinity = positive_infinity();
  if (fabs(x) == infinity) {
    result = fabs(y) == infinity ? (left ? 3.0 * QUARTER_PI : QUARTER_PI) : (left ? PI_HIGH : 0.0);
    return below ? -result : result;
  }
  if (x == 0.0 || fabs(y) == infinity) {
    return below ? -HALF_PI_HIGH : HALF_PI_HIGH;
  }
  int32_t difference = ((high_word(y) & 0x7fffffff) - (high_word(x) & 0x7fffffff)) >> 20;
  if (difference > 60) {
    result = HALF_PI_HIGH + 0.5 * PI_LOW;
  } else if (left && difference < -60) {
    result = 0.0;
  } else {
    result = arc_tangent(fabs(y / x));
  }
  if (!left) {
    return below ? -result : result;
  }
  return below ? (result - PI_LOW) - PI_HIGH : PI_HIGH - (result - PI_LOW);
}

}  // namespace millrace
