// SPDX-License-Identifier: Apache-2.0
// Functions of DECIMAL as Flink's DecimalDataUtils computes them with BigDecimal: exact, then rounded HALF_UP to
// the scale of the result, then null where the declared precision is exceeded.
//
// Values are unscaled; narrower decimals arrive widened. The constant has one byte for each of the numbers that
// the declared types give: a shift is how many zeros align a value, drop how many last digits go, and precision how
// many digits the result may have before it is null.

#include "decimal.cuh"

using namespace millrace;

namespace millrace {

__device__ inline Wide aligned(Decimal value, int32_t shift) {
  return multiply(magnitude(value), power_of_ten(shift));
}

// The aligned sum, or the difference, before rounding.
__device__ inline Outcome<Decimal> sum(Decimal left, Decimal right, const char* constant) {
  int32_t left_shift = constant[0], right_shift = constant[1], drop = constant[2], precision = constant[3];
  Wide a = aligned(left, left_shift);
  Wide b = aligned(right, right_shift);
  bool negative = is_negative(left);
  Wide total;
  if (negative == is_negative(right)) {
    total = add(a, b);
  } else if (less(a, b)) {
    total = subtract(b, a);
    negative = !negative;
  } else {
    total = subtract(a, b);
  }
  return checked(drop_digits(total, drop, negative, HALF_UP), negative, precision);
}

__device__ inline Decimal negated(Decimal value) { return to_decimal(magnitude(value), !is_negative(value)); }

// Less than 0, 0 or more than 0 as left is less than, equal to or more than right.
__device__ inline int32_t order(Decimal left, Decimal right, const char* constant) {
  int32_t left_shift = constant[0], right_shift = constant[1];
  if (is_negative(left) != is_negative(right)) return is_negative(left) ? -1 : 1;
  Wide a = aligned(left, left_shift);
  Wide b = aligned(right, right_shift);
  int32_t order = less(a, b) ? -1 : less(b, a) ? 1 : 0;
  return is_negative(left) ? -order : order;
}

// Whether the integer has at most 38 digits before its trailing zeros.
__device__ inline bool has_38_significant_digits(Wide integer) {
  for (int32_t digits = 0; digits <= 38; digits++) {
    if (less(integer, multiply(power_of_ten(38), power_of_ten(digits)))) {
      return divide(integer, power_of_ten(digits)).remainder == 0;
    }
  }
  return false;
}

// How many decimal digits; 0 has none.
__device__ inline int32_t digits_of(uint128 value) {
  int32_t digits = 0;
  while (digits < 38 && value >= power_of_ten(digits)) digits++;
  return digits;
}

// BigDecimal rounds a quotient to 38 digits before it is rounded to the scale, both HALF_UP. The first rounding
// lifts what is at most half a unit of its last place below a half, so that the second one rounds up.
__device__ inline bool quotient_rounds_up(uint128 quotient, uint128 remainder, uint128 divisor) {
  uint128 rest = divisor - remainder;
  if (remainder >= rest) return true;
  int32_t kept_digits = 38 - digits_of(quotient);
  return kept_digits > 0 && rest - remainder <= divisor / power_of_ten(kept_digits);
}

}  // namespace millrace

MILLRACE_FUNCTION Outcome<Decimal> decimal_add(
    uint64_t left_low, int64_t left_high, uint64_t right_low, int64_t right_high, const char* constant) {
  return sum({left_low, left_high}, {right_low, right_high}, constant);
}

MILLRACE_FUNCTION Outcome<Decimal> decimal_subtract(
    uint64_t left_low, int64_t left_high, uint64_t right_low, int64_t right_high, const char* constant) {
  return sum({left_low, left_high}, negated({right_low, right_high}), constant);
}

MILLRACE_FUNCTION Outcome<Decimal> decimal_multiply(
    uint64_t left_low, int64_t left_high, uint64_t right_low, int64_t right_high, const char* constant) {
  int32_t drop = constant[0], precision = constant[1];
  Decimal left{left_low, left_high}, right{right_low, right_high};
  bool negative = is_negative(left) != is_negative(right);
  Wide product = multiply(magnitude(left), magnitude(right));
  return checked(drop_digits(product, drop, negative, HALF_UP), negative, precision);
}

// shift is the scale of the result, less the left one, plus the right one. It may be more than 38: then what does
// not fit in 256 bits gives a quotient of more than 38 digits.
MILLRACE_FUNCTION Outcome<Decimal> decimal_divide(
    uint64_t left_low, int64_t left_high, uint64_t right_low, int64_t right_high, const char* constant) {
  int32_t shift = constant[0], precision = constant[1];
  Decimal left{left_low, left_high}, right{right_low, right_high};
  uint128 divisor = magnitude(right);
  if (divisor == 0) return none<Decimal>(DIVISION_BY_ZERO);
  Wide dividend = multiply(magnitude(left), power_of_ten(shift < 38 ? shift : 38));
  if (shift > 38) {
    uint128 power = power_of_ten(shift - 38);
    Wide upper = multiply(dividend.high, power);
    Wide lower = multiply(dividend.low, power);
    dividend = {lower.low, upper.low + lower.high};
    if (upper.high != 0 || dividend.high < upper.low) return none<Decimal>(NULL_VALUE);
  }
  Division division = divide(dividend, divisor);
  if (division.quotient.high != 0 || division.quotient.low >= power_of_ten(38)) {
    return none<Decimal>(NULL_VALUE);
  }
  bool up = quotient_rounds_up(division.quotient.low, division.remainder, divisor);
  bool negative = is_negative(left) != is_negative(right);
  return checked({division.quotient.low + (up ? 1 : 0), 0}, negative, precision);
}

// BigDecimal finds the remainder impossible where the integral quotient has more than 38 digits. One of the shifts
// is 0.
MILLRACE_FUNCTION Outcome<Decimal> decimal_mod(
    uint64_t left_low, int64_t left_high, uint64_t right_low, int64_t right_high, const char* constant) {
  int32_t left_shift = constant[0], right_shift = constant[1];
  Decimal left{left_low, left_high}, right{right_low, right_high};
  Wide dividend = aligned(left, left_shift);
  Wide divisor = aligned(right, right_shift);
  if (divisor.low == 0 && divisor.high == 0) return none<Decimal>(DIVISION_BY_ZERO);
  if (less(dividend, divisor)) return value(to_decimal(dividend.low, is_negative(left)));
  Division division = divide(dividend, divisor.low);
  if (!has_38_significant_digits(division.quotient)) return none<Decimal>(INVALID_ARGUMENT);
  return value(to_decimal(division.remainder, is_negative(left)));
}

MILLRACE_FUNCTION int32_t decimal_less(
    uint64_t left_low, int64_t left_high, uint64_t right_low, int64_t right_high, const char* constant) {
  return order({left_low, left_high}, {right_low, right_high}, constant) < 0;
}

MILLRACE_FUNCTION int32_t decimal_less_or_equal(
    uint64_t left_low, int64_t left_high, uint64_t right_low, int64_t right_high, const char* constant) {
  return order({left_low, left_high}, {right_low, right_high}, constant) <= 0;
}

MILLRACE_FUNCTION Decimal decimal_negate(uint64_t low, int64_t high) {
  return negated({low, high});
}

MILLRACE_FUNCTION Decimal decimal_abs(uint64_t low, int64_t high) {
  return to_decimal(magnitude({low, high}), false);
}

// -1, 0 or 1 with the scale of the argument. Where that takes more digits than the precision it is null.
MILLRACE_FUNCTION Outcome<Decimal> decimal_sign(uint64_t low, int64_t high, const char* constant) {
  int32_t scale = constant[0], precision = constant[1];
  if (low == 0 && high == 0) return value(Decimal{0, 0});
  return checked({power_of_ten(scale), 0}, high < 0, precision);
}

// To another scale; shift is the new one less the old one.
MILLRACE_FUNCTION Outcome<Decimal> decimal_rescale(uint64_t low, int64_t high, const char* constant) {
  int32_t shift = constant[0], precision = constant[1];
  Decimal decimal{low, high};
  Wide scaled = shift >= 0
      ? aligned(decimal, shift)
      : drop_digits({magnitude(decimal), 0}, -shift, high < 0, HALF_UP);
  return checked(scaled, high < 0, precision);
}

// Without the last digits, which may be more than there are; then with as many zeros as restored.
MILLRACE_FUNCTION Outcome<Decimal> decimal_round(uint64_t low, int64_t high, const char* constant) {
  int32_t drop = constant[0], restored = constant[1], rounding = constant[2], precision = constant[3];
  if (drop > 38) return value(Decimal{0, 0});
  Wide kept = drop_digits({magnitude({low, high}), 0}, drop, high < 0, rounding);
  return checked(multiply(kept.low, power_of_ten(restored)), high < 0, precision);
}
