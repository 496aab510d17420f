// SPDX-License-Identifier: Apache-2.0
// Divisions and remainders of integers, which fail for a divisor of zero.

#include "function/function.cuh"

#include <climits>

using namespace millrace;

namespace {

// MIN / -1 is MIN, as in Java, independent of the processor's instruction.
template <typename Integer>
__device__ inline Outcome<Integer> divide(Integer dividend, Integer divisor) {
  if (divisor == 0) return none<Integer>(DIVISION_BY_ZERO);
  if (divisor == -1) return value(static_cast<Integer>(0 - static_cast<uint64_t>(dividend)));
  return value(static_cast<Integer>(dividend / divisor));
}

template <typename Integer>
__device__ inline Outcome<Integer> remainder(Integer dividend, Integer divisor) {
  if (divisor == 0) return none<Integer>(DIVISION_BY_ZERO);
  if (divisor == -1) return value<Integer>(0);
  return value(static_cast<Integer>(dividend % divisor));
}

template <typename Narrow>
__device__ inline Outcome<int32_t> narrowed(Outcome<int32_t> wide) {
  return {static_cast<Narrow>(wide.value), wide.status};
}

}  // namespace

MILLRACE_FUNCTION Outcome<int32_t> int_divide(int32_t dividend, int32_t divisor) {
  return divide(dividend, divisor);
}

MILLRACE_FUNCTION Outcome<int32_t> int_divide_to_byte(int32_t dividend, int32_t divisor) {
  return narrowed<int8_t>(divide(dividend, divisor));
}

MILLRACE_FUNCTION Outcome<int32_t> int_divide_to_short(int32_t dividend, int32_t divisor) {
  return narrowed<int16_t>(divide(dividend, divisor));
}

MILLRACE_FUNCTION Outcome<int64_t> long_divide(int64_t dividend, int64_t divisor) {
  return divide(dividend, divisor);
}

MILLRACE_FUNCTION Outcome<int32_t> int_remainder(int32_t dividend, int32_t divisor) {
  return remainder(dividend, divisor);
}

MILLRACE_FUNCTION Outcome<int32_t> int_remainder_to_byte(int32_t dividend, int32_t divisor) {
  return remainder(dividend, divisor);
}

MILLRACE_FUNCTION Outcome<int32_t> int_remainder_to_short(int32_t dividend, int32_t divisor) {
  return remainder(dividend, divisor);
}

MILLRACE_FUNCTION Outcome<int64_t> long_remainder(int64_t dividend, int64_t divisor) {
  return remainder(dividend, divisor);
}
