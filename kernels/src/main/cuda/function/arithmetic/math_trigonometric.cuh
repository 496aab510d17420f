// SPDX-License-Identifier: Apache-2.0
// sin, cos and tan: the algorithms of fdlibm's k_sin.c, k_cos.c and k_tan.c (Sun Microsystems, 1993 to 2004).

#pragma once

#include "math_bits.cuh"
#include "math_reduction.cuh"

namespace millrace {

// sin(x + rest) for |x| <= pi / 4.
__device__ inline double reduced_sine(double x, double rest) {
  if ((high_word(x) & 0x7fffffff) < 0x3e400000) {  // |x| < 2^-27
    return x;
  }
  double z = x * x;
  double v = z * x;
  double r = 8.33333333332248946124e-03 +
             z * (-1.98412698298579493134e-04 +
                  z * (2.75573137070700676789e-06 +
                       z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
  return x - ((z * (0.5 * rest - v * r) - rest) - v * -1.66666666666666324348e-01);
}

// cos(x + rest) for |x| <= pi / 4.
__device__ inline double reduced_cosine(double x, double rest) {
  int32_t magnitude = high_word(x) & 0x7fffffff;
  if (magnitude < 0x3e400000) {  // |x| < 2^-27
    return 1.0;
  }
  double z = x * x;
  double r = z * (4.16666666666666019037e-02 +
                  z * (-1.38888888888741095749e-03 +
                       z * (2.48015872894767294178e-05 +
                            z * (-2.75573143513906633035e-07 +
                                 z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
  if (magnitude < 0x3fd33333) {  // |x| < 0.3
    return 1.0 - (0.5 * z - (z * r - x * rest));
  }
  double quarter = magnitude > 0x3fe90000 ? 0.28125 : from_words(magnitude - 0x00200000, 0);  // about |x| / 4
  double half_square = 0.5 * z - quarter;
  double a = 1.0 - quarter;
  return a - (half_square - (z * r - x * rest));
}

// -1 / (x + rest), where one division alone would lose two bits.
__device__ inline double negative_reciprocal(double x, double rest) {
  double sum = x + rest;
  double z = clear_low_word(sum);
  double v = rest - (z - x);
  double a = -1.0 / sum;
  double t = clear_low_word(a);
  double s = 1.0 + t * z;
  return t + a * (s + t * v);
}

// tan(x + rest), or -1 / tan(x + rest) in odd quadrants, for |x| <= pi / 4.
__device__ inline double reduced_tangent(double x, double rest, bool reciprocal) {
  bool negative = high_word(x) < 0;
  int32_t magnitude = high_word(x) & 0x7fffffff;
  if (magnitude < 0x3e300000) {  // |x| < 2^-28
    return reciprocal ? negative_reciprocal(x, rest) : x;
  }
  bool large = magnitude >= 0x3fe59428;  // |x| >= 0.6744: by way of pi / 4 - x
  if (large) {
    if (negative) {
      x = -x;
      rest = -rest;
    }
    x = (7.85398163397448278999e-01 - x) + (3.06161699786838301793e-17 - rest);
    rest = 0.0;
  }
  double z = x * x;
  double w = z * z;
  double odd = 1.33333333333201242699e-01 +
               w * (2.18694882948595424599e-02 +
                    w * (3.59207910759131235356e-03 +
                         w * (5.88041240820264096874e-04 +
                              w * (7.81794442939557092300e-05 + w * -1.85586374855275456654e-05))));
  double even = z * (5.39682539762260521377e-02 +
                     w * (8.86323982359930005737e-03 +
                          w * (1.45620945432529025516e-03 +
                               w * (2.46463134818469906812e-04 +
                                    w * (7.14072491382608190305e-05 + w * 2.59073051863633712884e-05)))));
  double s = z * x;
  double r = rest + z * (s * (odd + even) + rest);
  r += 3.33333333333334091986e-01 * s;
  double sum = x + r;
  if (large) {
    double v = reciprocal ? -1.0 : 1.0;
    double result = v - 2.0 * (x - (sum * sum / (sum + v) - r));
    return negative ? -result : result;
  }
  return reciprocal ? negative_reciprocal(x, r) : sum;
}

__device__ inline double sine(double x) {
  int32_t magnitude = high_word(x) & 0x7fffffff;
  if (magnitude <= 0x3fe921fb) {  // |x| < pi / 4
    double z = x * x;
    if (magnitude < 0x3e400000) {
      return x;
    }
    double r = 8.33333333332248946124e-03 +
               z * (-1.98412698298579493134e-04 +
                    z * (2.75573137070700676789e-06 +
                         z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
    return x + z * x * (-1.66666666666666324348e-01 + z * r);
  }
  if (magnitude >= 0x7ff00000) {
    return not_a_number();
  }
  ReducedAngle angle = reduce_angle(x);
  double result = (angle.quadrant & 1) == 0 ? reduced_sine(angle.high, angle.low)
                                            : reduced_cosine(angle.high, angle.low);
  return (angle.quadrant & 2) == 0 ? result : -result;
}

__device__ inline double cosine(double x) {
  int32_t magnitude = high_word(x) & 0x7fffffff;
  if (magnitude <= 0x3fe921fb) {  // |x| < pi / 4
    return reduced_cosine(x, 0.0);
  }
  if (magnitude >= 0x7ff00000) {
    return not_a_number();
  }
  ReducedAngle angle = reduce_angle(x);
  double result = (angle.quadrant & 1) == 0 ? reduced_cosine(angle.high, angle.low)
                                            : reduced_sine(angle.high, angle.low);
  return ((angle.quadrant + 1) & 2) == 0 ? result : -result;
}

__device__ __noinline__ double tangent(double x) {
  int32_t magnitude = high_word(x) & 0x7fffffff;
  if (magnitude <= 0x3fe921fb) {  // |x| < pi / 4
    return reduced_tangent(x, 0.0, false);
  }
  if (magnitude >= 0x7ff00000) {
    return not_a_number();
  }
  ReducedAngle angle = reduce_angle(x);
  return reduced_tangent(angle.high, angle.low, (angle.quadrant & 1) != 0);
}

}  // namespace millrace
