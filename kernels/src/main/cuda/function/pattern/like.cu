// SPDX-License-Identifier: Apache-2.0
// LIKE: `%` stands for any bytes, `_` for one code point that is not a line terminator. The binding looks at the
// pattern and names the function that does no more than the pattern needs. The constant is the length of the
// pattern's bytes, little-endian in four bytes, and the bytes.

#include "function/string/string_text.cuh"
#include "pattern.cuh"

using namespace millrace;

namespace {

struct Pattern {
  const char* bytes;
  int32_t length;
};

__device__ inline Pattern pattern_of(const char* constant) {
  return {constant + 4, read_length(constant)};
}

// The pattern's byte `percent` stands for any bytes, `underscore` for one code point that is not a line terminator.
//
// Goes back to the last `percent` only: what stands between two of them matches at its first place or, if the
// whole is to match, at a later one, but never needs an earlier one.
__device__ inline bool matches_wildcards(
    const char* bytes, int32_t length, Pattern pattern, char percent, char underscore) {
  int32_t at = 0;
  int32_t in_pattern = 0;
  int32_t after_percent = -1;
  int32_t taken_until = 0;
  while (at < length) {
    int32_t step = 0;
    bool is_percent = false;
    if (in_pattern < pattern.length) {
      char expected = pattern.bytes[in_pattern];
      is_percent = expected == percent;
      if (expected == underscore) {
        step = code_point_but_line_terminator(bytes, length, at);
      } else if (!is_percent && expected == bytes[at]) {
        step = 1;
      }
    }
    if (is_percent) {
      after_percent = ++in_pattern;
      taken_until = at;
    } else if (step > 0) {
      at += step;
      in_pattern++;
    } else if (after_percent >= 0) {
      at = ++taken_until;
      in_pattern = after_percent;
    } else {
      return false;
    }
  }
  while (in_pattern < pattern.length && pattern.bytes[in_pattern] == percent) {
    in_pattern++;
  }
  return in_pattern == pattern.length;
}

}  // namespace

MILLRACE_FUNCTION int32_t like_equal(const char* bytes, int32_t length, const char* constant) {
  Pattern pattern = pattern_of(constant);
  return length == pattern.length && equal(bytes, pattern.bytes, length);
}

MILLRACE_FUNCTION int32_t like_prefix(const char* bytes, int32_t length, const char* constant) {
  Pattern pattern = pattern_of(constant);
  return length >= pattern.length && equal(bytes, pattern.bytes, pattern.length);
}

MILLRACE_FUNCTION int32_t like_suffix(const char* bytes, int32_t length, const char* constant) {
  Pattern pattern = pattern_of(constant);
  int32_t start = length - pattern.length;
  return start >= 0 && equal(bytes + start, pattern.bytes, pattern.length);
}

// Looks at eight starts at a time for the pattern's first byte.
MILLRACE_FUNCTION int32_t like_contains(const char* bytes, int32_t length, const char* constant) {
  Pattern pattern = pattern_of(constant);
  uint64_t first = static_cast<uint8_t>(pattern.bytes[0]) * 0x0101010101010101ull;
  int32_t starts = length - pattern.length + 1;
  for (int32_t offset = 0; offset < starts; offset += 8) {
    int32_t count = least(8, starts - offset);
    uint64_t candidates = zero_bytes(load_bytes(bytes + offset, count) ^ first);
    while (candidates != 0) {
      int32_t index = bytes_below(candidates);
      if (index < count && equal(bytes + offset + index, pattern.bytes, pattern.length)) {
        return 1;
      }
      candidates &= candidates - 1;
    }
  }
  return 0;
}

// In the constant, wildcards are bytes that are not in UTF-8.
MILLRACE_FUNCTION int32_t like_wildcards(const char* bytes, int32_t length, const char* constant) {
  return matches_wildcards(bytes, length, pattern_of(constant), '\xff', '\xfe');
}

// The host decodes the pattern, with U+FFFD for what is malformed.
MILLRACE_FUNCTION Outcome<int32_t> like(
    const char* bytes, int32_t length, const char* pattern, int32_t pattern_length) {
  if (!is_well_formed({pattern, pattern_length})) return none<int32_t>(NEEDS_HOST);
  return value<int32_t>(matches_wildcards(bytes, length, {pattern, pattern_length}, '%', '_'));
}
