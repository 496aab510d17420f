// SPDX-License-Identifier: Apache-2.0
// Comparisons of byte strings: unsigned bytes, the shorter first where one begins the other.

#include "function/utf8.cuh"

using namespace millrace;

namespace {

__device__ inline int32_t order(
    const char* left, int32_t left_length, const char* right, int32_t right_length) {
  const int32_t common = least(left_length, right_length);
  for (int32_t offset = 0; offset < common; offset += 8) {
    const int32_t bytes = least(8, common - offset);
    const uint64_t left_word = load_bytes(left + offset, bytes);
    const uint64_t right_word = load_bytes(right + offset, bytes);
    if (left_word != right_word) {
      const int32_t shift = bytes_below(left_word ^ right_word) * 8;
      return static_cast<uint8_t>(left_word >> shift) - static_cast<uint8_t>(right_word >> shift);
    }
  }
  return left_length - right_length;
}

}  // namespace

MILLRACE_FUNCTION int32_t bytes_equal(const char* left, int32_t left_length, const char* right,
                                      int32_t right_length) {
  return left_length == right_length && equal(left, right, left_length);
}

MILLRACE_FUNCTION int32_t bytes_not_equal(const char* left, int32_t left_length, const char* right,
                                          int32_t right_length) {
  return left_length != right_length || !equal(left, right, left_length);
}

MILLRACE_FUNCTION int32_t bytes_less(const char* left, int32_t left_length, const char* right,
                                     int32_t right_length) {
  return order(left, left_length, right, right_length) < 0;
}

MILLRACE_FUNCTION int32_t bytes_less_or_equal(const char* left, int32_t left_length,
                                              const char* right, int32_t right_length) {
  return order(left, left_length, right, right_length) <= 0;
}

MILLRACE_FUNCTION int32_t bytes_greater(const char* left, int32_t left_length, const char* right,
                                        int32_t right_length) {
  return order(left, left_length, right, right_length) > 0;
}

MILLRACE_FUNCTION int32_t bytes_greater_or_equal(const char* left, int32_t left_length,
                                                 const char* right, int32_t right_length) {
  return order(left, left_length, right, right_length) >= 0;
}
