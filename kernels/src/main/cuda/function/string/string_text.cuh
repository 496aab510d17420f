// SPDX-License-Identifier: Apache-2.0
// What the string functions do to runs of bytes and to UTF-8.

#pragma once

#include "function/utf8.cuh"

// Copies bytes that do not overlap.
MILLRACE_FUNCTION void copy_bytes(char* to, const char* from, int32_t length) {
  millrace::copy_mapped(to, from, length, [](uint64_t word) { return word; });
}

// The number of code points.
MILLRACE_FUNCTION int32_t char_length(const char* bytes, int32_t length) {
  return millrace::first_code_points(bytes, length, INT32_MAX).count;
}

// The bytes of the widest code point, at least 1, or 0 if the UTF-8 is malformed.
MILLRACE_FUNCTION int32_t widest_code_point(const char* bytes, int32_t length) {
  using namespace millrace;
  int32_t widest = 1;
  int32_t offset = 0;
  while (offset < length) {
    const int32_t step = least(8, length - offset);
    const uint64_t high = load_bytes(bytes + offset, step) & NOT_ASCII;
    if (high == 0) {
      offset += step;
    } else {
      offset += bytes_below(high);
      const int32_t width = well_formed_width(bytes + offset, length - offset);
      if (width == 0) {
        return 0;
      }
      widest = greatest(widest, width);
      offset += width;
    }
  }
  return widest;
}

namespace millrace {

// Whether Java decodes and encodes it to itself.
__device__ inline bool is_well_formed(String text) {
  return widest_code_point(text.bytes, text.length) != 0;
}

// Whether each code point is one UTF-16 unit.
__device__ inline bool has_narrow_code_points(String text) {
  const int32_t widest = widest_code_point(text.bytes, text.length);
  return widest != 0 && widest < 4;
}

}  // namespace millrace
