// Natural and decimal logarithm: the algorithms of fdlibm's e_log.c and e_log10.c (Sun Microsystems, 1993 to 2004).

#pragma once

#include "math_bits.cuh"
#include "math_exponential.cuh"

namespace millrace {

// ln(1 + f) of a reduced argument plus k ln2; `high` is the high word of the reduced argument before it was normalized.
__device__ inline double reduced_logarithm(double f, int32_t high, int32_t k) {
  double exponent = k;
  double s = f / (2.0 + f);
  double z = s * s;
  double w = z * z;
  double even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  double odd = z * (6.666666666666735130e-01 +
                    w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  double remainder = odd + even;
  if (((high - 0x6147a) | (0x6b851 - high)) > 0) {
    double half_square = 0.5 * f * f;
    return k == 0 ? f - (half_square - s * (half_square + remainder))
                  : exponent * LN2_HIGH -
                        ((half_square - (s * (half_square + remainder) + exponent * LN2_LOW)) - f);
  }
  return k == 0 ? f - s * (f - remainder)
                : exponent * LN2_HIGH - ((s * (f - remainder) - exponent * LN2_LOW) - f);
}

__device__ __noinline__ double natural_logarithm(double x) {
  int32_t high = high_word(x);
  int32_t k = 0;
  if (high < 0x00100000) {  // x < 2^-1022
    if (x == 0.0) {
      return -positive_infinity();
    }
    if (high < 0) {
      return not_a_number();
    }
    k = -54;
    x *= power_of_two(54);
    high = high_word(x);
  }
  if (high >= 0x7ff00000) {
    return x;
  }
  k += (high >> 20) - 1023;
  high &= 0x000fffff;
  int32_t above = (high + 0x95f64) & 0x100000;  // the reduced argument is in [sqrt(2) / 2, sqrt(2)]
  double f = with_high_word(x, high | (above ^ 0x3ff00000)) - 1.0;
  k += above >> 20;
  if ((0x000fffff & (2 + high)) >= 3) {
    return reduced_logarithm(f, high, k);
  }
  double exponent = k;  // |f| < 2^-20
  if (f == 0.0) {
    return k == 0 ? 0.0 : exponent * LN2_HIGH + exponent * LN2_LOW;
  }
  double r = f * f * (0.5 - 0.33333333333333333 * f);
  return k == 0 ? f - r : exponent * LN2_HIGH - ((r - exponent * LN2_LOW) - f);
}

__device__ inline double decimal_logarithm(double x) {
  int32_t high = high_word(x);
  int32_t k = 0;
  if (high < 0x00100000) {  // x < 2^-1022
    if (x == 0.0) {
      return -positive_infinity();
    }
    if (high < 0) {
      return not_a_number();
    }
    k = -54;
    x *= power_of_two(54);
    high = high_word(x);
  }
  if (high >= 0x7ff00000) {
    return x;
  }
  k += (high >> 20) - 1023;
  int32_t negative = k < 0 ? 1 : 0;
  double exponent = k + negative;
  x = with_high_word(x, (high & 0x000fffff) | ((0x3ff - negative) << 20));
  double z = exponent * 3.69423907715893078616e-13 + 4.34294481903251816668e-01 * natural_logarithm(x);
  return z + exponent * 3.01029995663611771306e-01;
}

}  // namespace millrace
