// SPDX-License-Identifier: Apache-2.0
// String functions over UTF-8 with the results of Flink 2.3. A result that is a part of the argument points into it.
//
// Flink does some of them over Java strings, so that malformed UTF-8 becomes U+FFFD and some positions are those of
// UTF-16 units; rows where that would show are left to the host.

#include "string_case.cuh"
#include "string_edit.cuh"
#include "string_encoding.cuh"
#include "string_pad.cuh"
#include "string_predicate.cuh"
#include "string_search.cuh"
#include "string_trim.cuh"

using millrace::Outcome;
using millrace::String;

// The part from the code point `start`, counted from 1, or from the end if negative.
MILLRACE_FUNCTION String substring(const char* bytes, int32_t length, int32_t start) {
  int32_t skipped = millrace::greatest(start, 1) - 1;
  if (start < 0) {
    skipped = char_length(bytes, length) + start;
    if (skipped < 0) {
      return {bytes, 0};
    }
  }
  const int32_t offset = millrace::offset_of_code_point(bytes, length, skipped);
  return {bytes + offset, length - offset};
}

// The `count` code points from `start` on; null for a negative count.
MILLRACE_FUNCTION Outcome<String> substring_for(const char* bytes, int32_t length, int32_t start, int32_t count) {
  if (count < 0) {
    return millrace::none<String>(millrace::NULL_VALUE);
  }
  const String tail = substring(bytes, length, start);
  return millrace::value(String{tail.bytes, millrace::offset_of_code_point(tail.bytes, tail.length, count)});
}

MILLRACE_FUNCTION String left(const char* bytes, int32_t length, int32_t count) {
  return {bytes, count <= 0 ? 0 : millrace::offset_of_code_point(bytes, length, count)};
}

MILLRACE_FUNCTION String right(const char* bytes, int32_t length, int32_t count) {
  if (count <= 0) {
    return {bytes, 0};
  }
  if (count >= length) {
    return {bytes, length};
  }
  const int32_t skipped = millrace::greatest(char_length(bytes, length) - count, 0);
  const int32_t offset = millrace::offset_of_code_point(bytes, length, skipped);
  return {bytes + offset, length - offset};
}

// The first byte, signed, or 0.
MILLRACE_FUNCTION int32_t ascii(const char* bytes, int32_t length) {
  return length <= 0 ? 0 : static_cast<signed char>(bytes[0]);
}

// The character with the code of the lowest byte; none if the code is negative. It takes two bytes of scratch.
MILLRACE_FUNCTION String chr(char* scratch, int64_t code) {
  if (code < 0) {
    return {scratch, 0};
  }
  const int32_t low = static_cast<int32_t>(code & 0xFF);
  if (low < 0x80) {
    scratch[0] = static_cast<char>(low);
    return {scratch, 1};
  }
  scratch[0] = static_cast<char>(0xC0 | low >> 6);
  scratch[1] = static_cast<char>(0x80 | (low & 0x3F));
  return {scratch, 2};
}
