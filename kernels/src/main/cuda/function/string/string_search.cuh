// SPDX-License-Identifier: Apache-2.0
// Where a string is in another.

#pragma once

#include "string_text.cuh"

namespace millrace {

// A search among code points: from the one at `offset`, the `index`th, counted from 1.
struct Occurrence {
  int32_t offset;
  int32_t index;
};

// The first occurrence of `sought`, which is not empty, from a code point on; index 0 if there is none.
__device__ inline Occurrence next_occurrence(
    const char* bytes, int32_t length, const char* sought, int32_t sought_length, Occurrence from) {
  while (from.offset <= length - sought_length) {
    if (bytes[from.offset] == sought[0] && equal(bytes + from.offset, sought, sought_length)) {
      return from;
    }
    from.offset += code_point_width(bytes + from.offset, length - from.offset);
    ++from.index;
  }
  return {length, 0};
}

// The last occurrence of `sought`, which is not empty, that ends at most at a code point; both count its end. Offset -1
// if there is none: in malformed UTF-8 the index may be anything.
__device__ inline Occurrence previous_occurrence(
    const char* bytes, const char* sought, int32_t sought_length, Occurrence end) {
  while (end.offset >= sought_length) {
    if (equal(bytes + end.offset - sought_length, sought, sought_length)) {
      return end;
    }
    end.offset -= last_code_point_width(bytes, end.offset);
    --end.index;
  }
  return {-1, 0};
}

}  // namespace millrace

// The first offset from `from` on where `sought`, which is not empty, is; or -1.
MILLRACE_FUNCTION int32_t find_bytes(
    const char* bytes, int32_t length, const char* sought, int32_t sought_length, int32_t from) {
  const char first = sought[0];
  for (int32_t offset = from; offset <= length - sought_length; ++offset) {
    if (bytes[offset] == first && millrace::equal(bytes + offset, sought, sought_length)) {
      return offset;
    }
  }
  return -1;
}

// The code point, counted from 1, where `sought` is first at or after the code point `from`, or 0. An empty one is at 1.
MILLRACE_FUNCTION int32_t position_from(
    const char* sought, int32_t sought_length, const char* bytes, int32_t length, int32_t from) {
  if (sought_length <= 0) {
    return 1;
  }
  // Wraps around as Flink's: from the lowest number nothing is found.
  const int32_t skipped = static_cast<int32_t>(static_cast<uint32_t>(from) - 1u);
  const int32_t offset = millrace::offset_of_code_point(bytes, length, skipped);
  if (offset >= length) {
    return 0;
  }
  return millrace::next_occurrence(
             bytes, length, sought, sought_length, {offset, millrace::greatest(skipped, 0) + 1})
      .index;
}

MILLRACE_FUNCTION int32_t position(const char* sought, int32_t sought_length, const char* bytes, int32_t length) {
  return position_from(sought, sought_length, bytes, length, 1);
}

// The code point where the `nth` occurrence of `sought` from `start` on is, or 0; from a negative start, which counts
// from the end, the search goes backwards.
MILLRACE_FUNCTION millrace::Outcome<int32_t> instr(
    const char* bytes, int32_t length, const char* sought, int32_t sought_length, int32_t start, int32_t nth) {
  using namespace millrace;
  if (nth <= 0) {
    return none<int32_t>(INVALID_ARGUMENT);
  }
  if (start == 0 || start == INT32_MIN) {
    return value(0);
  }
  if (start > 0) {
    if (sought_length <= 0) {
      return value(1);
    }
    Occurrence at = {offset_of_code_point(bytes, length, start - 1), start};
    while (true) {
      at = next_occurrence(bytes, length, sought, sought_length, at);
      if (at.index == 0 || --nth == 0) {
        return value(at.index);
      }
      at.offset += code_point_width(bytes + at.offset, length - at.offset);
      ++at.index;
    }
  }
  const int32_t count = char_length(bytes, length);
  if (sought_length <= 0) {
    return value(count + 1);
  }
  const int32_t end = count + start + 1;
  if (end <= 0) {
    return value(0);
  }
  Occurrence at = {offset_of_code_point(bytes, length, end), end};
  while (true) {
    at = previous_occurrence(bytes, sought, sought_length, at);
    if (at.offset < 0) {
      return value(0);
    }
    if (--nth == 0) {
      return value(at.index - char_length(sought, sought_length) + 1);
    }
    at.offset -= last_code_point_width(bytes, at.offset);
    --at.index;
  }
}

MILLRACE_FUNCTION int32_t starts_with(const char* bytes, int32_t length, const char* prefix, int32_t prefix_length) {
  return prefix_length <= length && millrace::equal(bytes, prefix, prefix_length);
}

MILLRACE_FUNCTION int32_t ends_with(const char* bytes, int32_t length, const char* suffix, int32_t suffix_length) {
  return suffix_length <= length && millrace::equal(bytes + length - suffix_length, suffix, suffix_length);
}
