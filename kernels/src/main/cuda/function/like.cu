// LIKE: `%` stands for any bytes, `_` for one code point that is no line terminator. The binding looks at the
// pattern and names the function that does no more than the pattern needs. The constant is the length of the
// pattern's bytes, little-endian in four bytes, and the bytes.

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

__device__ inline bool same_bytes(const char* left, const char* right, int32_t length) {
  for (int32_t i = 0; i < length; i++) {
    if (left[i] != right[i]) {
      return false;
    }
  }
  return true;
}

// The pattern's byte `many` stands for any bytes, `one` for one code point that is no line terminator.
//
// Goes back to the last `many` alone: what stands between two of them matches at its first place or, if the
// whole is to match, at a later one, but never needs an earlier one.
__device__ inline bool matches_wildcards(
    const char* bytes, int32_t length, Pattern pattern, char many, char one) {
  int32_t at = 0;
  int32_t in_pattern = 0;
  int32_t after_many = -1;
  int32_t taken_until = 0;
  while (at < length) {
    int32_t step = 0;
    bool is_many = false;
    if (in_pattern < pattern.length) {
      char expected = pattern.bytes[in_pattern];
      is_many = expected == many;
      if (expected == one) {
        step = code_point_but_line_terminator(bytes, length, at);
      } else if (!is_many && expected == bytes[at]) {
        step = 1;
      }
    }
    if (is_many) {
      after_many = ++in_pattern;
      taken_until = at;
    } else if (step > 0) {
      at += step;
      in_pattern++;
    } else if (after_many >= 0) {
      at = ++taken_until;
      in_pattern = after_many;
    } else {
      return false;
    }
  }
  while (in_pattern < pattern.length && pattern.bytes[in_pattern] == many) {
    in_pattern++;
  }
  return in_pattern == pattern.length;
}

}  // namespace

MILLRACE_FUNCTION int32_t like_equal(const char* bytes, int32_t length, const char* constant) {
  Pattern pattern = pattern_of(constant);
  return length == pattern.length && same_bytes(bytes, pattern.bytes, length);
}

MILLRACE_FUNCTION int32_t like_prefix(const char* bytes, int32_t length, const char* constant) {
  Pattern pattern = pattern_of(constant);
  return length >= pattern.length && same_bytes(bytes, pattern.bytes, pattern.length);
}

MILLRACE_FUNCTION int32_t like_suffix(const char* bytes, int32_t length, const char* constant) {
  Pattern pattern = pattern_of(constant);
  int32_t start = length - pattern.length;
  return start >= 0 && same_bytes(bytes + start, pattern.bytes, pattern.length);
}

MILLRACE_FUNCTION int32_t like_contains(const char* bytes, int32_t length, const char* constant) {
  Pattern pattern = pattern_of(constant);
  char first = pattern.bytes[0];
  for (int32_t start = 0; start <= length - pattern.length; start++) {
    if (bytes[start] == first &&
        same_bytes(bytes + start + 1, pattern.bytes + 1, pattern.length - 1)) {
      return 1;
    }
  }
  return 0;
}

// In the constant, wildcards are bytes that are not in UTF-8.
MILLRACE_FUNCTION int32_t like_wildcards(const char* bytes, int32_t length, const char* constant) {
  return matches_wildcards(bytes, length, pattern_of(constant), '\xff', '\xfe');
}

MILLRACE_FUNCTION int32_t like(
    const char* bytes, int32_t length, const char* pattern, int32_t pattern_length) {
  return matches_wildcards(bytes, length, {pattern, pattern_length}, '%', '_');
}
