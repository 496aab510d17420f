// SPDX-License-Identifier: Apache-2.0
// Strings without the code points of a set at their ends.

#pragma once

#include "string_search.cuh"

// Without the leading code points that are in `characters`.
MILLRACE_FUNCTION millrace::String trim_leading(
    const char* bytes, int32_t length, const char* characters, int32_t characters_length) {
  int32_t offset = 0;
  while (offset < length) {
    const int32_t width = millrace::code_point_width(bytes + offset, length - offset);
    if (find_bytes(characters, characters_length, bytes + offset, width, 0) < 0) {
      break;
    }
    offset += width;
  }
  return {bytes + offset, length - offset};
}

// Without the trailing code points that are in `characters`.
MILLRACE_FUNCTION millrace::String trim_trailing(
    const char* bytes, int32_t length, const char* characters, int32_t characters_length) {
  int32_t end = length;
  while (end > 0) {
    const int32_t width = millrace::last_code_point_width(bytes, end);
    if (find_bytes(characters, characters_length, bytes + end - width, width, 0) < 0) {
      break;
    }
    end -= width;
  }
  return {bytes, end};
}

MILLRACE_FUNCTION millrace::String trim_both(
    const char* bytes, int32_t length, const char* characters, int32_t characters_length) {
  const millrace::String tail = trim_leading(bytes, length, characters, characters_length);
  return trim_trailing(tail.bytes, tail.length, characters, characters_length);
}
