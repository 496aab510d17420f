// SPDX-License-Identifier: Apache-2.0
// Mathematical functions of DOUBLE, with the bits of Java's StrictMath except for logarithms, and rounding of numbers.

#include "function/function.cuh"
#include "math_hyperbolic.cuh"
#include "math_inverse_trigonometric.cuh"
#include "math_logarithm.cuh"
#include "math_power.cuh"
#include "math_rounding.cuh"
#include "math_trigonometric.cuh"

using namespace millrace;

MILLRACE_FUNCTION double double_exp(double x) { return exponential(x); }

MILLRACE_FUNCTION double double_ln(double x) { return natural_logarithm(x).high; }

MILLRACE_FUNCTION double double_log10(double x) { return decimal_logarithm(x); }

MILLRACE_FUNCTION double double_log2(double x) {
  return quotient_of_logarithms(natural_logarithm(x), {6.93147180559945286227e-01, 0.0});
}

MILLRACE_FUNCTION double double_log(double base, double x) {
  return quotient_of_logarithms(natural_logarithm(x), natural_logarithm(base));
}

MILLRACE_FUNCTION double double_power(double base, double exponent) { return power(base, exponent); }

MILLRACE_FUNCTION double double_sin(double x) { return sine(x); }

MILLRACE_FUNCTION double double_cos(double x) { return cosine(x); }

MILLRACE_FUNCTION double double_tan(double x) { return tangent(x); }

MILLRACE_FUNCTION double double_cot(double x) { return 1.0 / tangent(x); }

MILLRACE_FUNCTION double double_asin(double x) { return arc_sine(x); }

MILLRACE_FUNCTION double double_acos(double x) { return arc_cosine(x); }

MILLRACE_FUNCTION double double_atan(double x) { return arc_tangent(x); }

MILLRACE_FUNCTION double double_atan2(double y, double x) { return arc_tangent_of_quotient(y, x); }

MILLRACE_FUNCTION double double_sinh(double x) { return hyperbolic_sine(x); }

MILLRACE_FUNCTION double double_cosh(double x) { return hyperbolic_cosine(x); }

MILLRACE_FUNCTION double double_tanh(double x) { return hyperbolic_tangent(x); }

MILLRACE_FUNCTION Outcome<double> double_round(double x, int32_t digits) { return round_double(x, digits); }

// The host rounds the decimal to a float at once: what lies between two floats as a double is for it to decide.
MILLRACE_FUNCTION Outcome<float> float_round(float x, int32_t digits) {
  Outcome<double> rounded = round_double(x, digits);
  bool between_floats = (bits_of(rounded.value) & 0x1fffffff) == 0x10000000 && digits != 0;
  return {static_cast<float>(rounded.value), rounded.status == VALUE && between_floats ? NEEDS_HOST : rounded.status};
}

MILLRACE_FUNCTION Outcome<double> double_truncate(double x, int32_t digits) { return truncate_double(x, digits); }

MILLRACE_FUNCTION Outcome<float> float_truncate(float x, int32_t digits) {
  Outcome<double> truncated = truncate_double(x, digits);
  return {static_cast<float>(truncated.value), truncated.status};
}

MILLRACE_FUNCTION int32_t int_round_to_byte(int32_t x, int32_t digits) {
  return static_cast<int8_t>(round_integer(x, digits));
}

MILLRACE_FUNCTION int32_t int_round_to_short(int32_t x, int32_t digits) {
  return static_cast<int16_t>(round_integer(x, digits));
}

MILLRACE_FUNCTION int32_t int_round(int32_t x, int32_t digits) {
  return static_cast<int32_t>(round_integer(x, digits));
}

MILLRACE_FUNCTION int64_t long_round(int64_t x, int32_t digits) { return round_integer(x, digits); }

MILLRACE_FUNCTION int32_t int_truncate(int32_t x, int32_t digits) {
  return static_cast<int32_t>(truncate_integer(x, digits));
}

MILLRACE_FUNCTION int64_t long_truncate(int64_t x, int32_t digits) { return truncate_integer(x, digits); }

MILLRACE_FUNCTION Outcome<int32_t> int_rounding_digits(int32_t x, int32_t digits, int32_t most) {
  return rounding_digits(x, digits, most);
}

MILLRACE_FUNCTION Outcome<int32_t> long_rounding_digits(int64_t x, int32_t digits, int32_t most) {
  return rounding_digits(x, digits, most);
}
