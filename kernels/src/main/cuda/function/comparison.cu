// Comparisons of byte strings: unsigned bytes, the shorter first where one begins the other.

#include "function.cuh"

using namespace millrace;

namespace {

__device__ inline bool equal(const char* left, const char* right, int32_t length) {
  for (int32_t i = 0; i < length; ++i) {
    if (left[i] != right[i]) return false;
  }
  return true;
}

__device__ inline int32_t order(
    const char* left, int32_t left_length, const char* right, int32_t right_length) {
  int32_t common = left_length < right_length ? left_length : right_length;
  for (int32_t i = 0; i < common; ++i) {
    int32_t difference = static_cast<uint8_t>(left[i]) - static_cast<uint8_t>(right[i]);
    if (difference != 0) return difference;
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
