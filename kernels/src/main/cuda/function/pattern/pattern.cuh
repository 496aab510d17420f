// SPDX-License-Identifier: Apache-2.0
// What LIKE and regular expressions have in common.

#pragma once

#include "function/utf8.cuh"

namespace millrace {

__device__ inline int32_t read_length(const char* constant) {
  uint32_t length = 0;
  for (int32_t i = 3; i >= 0; i--) {
    length = length << 8 | static_cast<uint8_t>(constant[i]);
  }
  return static_cast<int32_t>(length);
}

__device__ inline bool is_continuation(char byte) {
  return (byte & 0xc0) == 0x80;
}

// How many bytes the line terminator of java.util.regex has that is at `at`; 0 if there is none, and 1 for the
// carriage return of a pair.
__device__ inline int32_t line_terminator_bytes(const char* bytes, int32_t length, int32_t at) {
  uint8_t first = static_cast<uint8_t>(bytes[at]);
  if (first == '\n' || first == '\r') {
    return 1;
  }
  if (first == 0xc2) {
    return at + 1 < length && static_cast<uint8_t>(bytes[at + 1]) == 0x85 ? 2 : 0;
  }
  if (first == 0xe2) {
    bool is_separator = at + 2 < length && static_cast<uint8_t>(bytes[at + 1]) == 0x80 &&
                        (static_cast<uint8_t>(bytes[at + 2]) | 1) == 0xa9;
    return is_separator ? 3 : 0;
  }
  return 0;
}

// How many bytes the code point at `at` has; 0 if none starts there or it is a line terminator.
__device__ inline int32_t code_point_but_line_terminator(
    const char* bytes, int32_t length, int32_t at) {
  if (is_continuation(bytes[at]) || line_terminator_bytes(bytes, length, at) > 0) {
    return 0;
  }
  return code_point_width(bytes + at, length - at);
}

}  // namespace millrace
