// SPDX-License-Identifier: Apache-2.0
// Strings made from others: joined, with capital letters, with parts replaced.

#pragma once

#include "string_search.cuh"
#include "string_text.cuh"

namespace millrace {

// Bytes written one run after the other.
struct Writer {
  char* start;
  int32_t length;

  __device__ inline void append(const char* bytes, int32_t count) {
    copy_bytes(start + length, bytes, count);
    length += count;
  }

  __device__ inline void append(String text) { append(text.bytes, text.length); }

  __device__ inline void append(char byte) { start[length++] = byte; }

  __device__ inline String written() const { return {start, length}; }
};

__device__ inline bool is_between(char byte, char first, char last) {
  return byte >= first && byte <= last;
}

}  // namespace millrace

MILLRACE_FUNCTION millrace::String concat(
    char* scratch, const char* left, int32_t left_length, const char* right, int32_t right_length) {
  copy_bytes(scratch, left, left_length);
  copy_bytes(scratch + left_length, right, right_length);
  return {scratch, left_length + right_length};
}

// The operator ||, which replaces what is malformed.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> concat_text(
    char* scratch, const char* left, int32_t left_length, const char* right, int32_t right_length) {
  using namespace millrace;
  if (!is_well_formed({left, left_length}) || !is_well_formed({right, right_length})) {
    return none<String>(NEEDS_HOST);
  }
  return value(concat(scratch, left, left_length, right, right_length));
}

// Words of ASCII letters and digits with the first letter in upper case and the others in lower case.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> initcap(char* scratch, const char* bytes, int32_t length) {
  using namespace millrace;
  if (!is_well_formed({bytes, length})) {
    return none<String>(NEEDS_HOST);
  }
  bool starts = true;
  for (int32_t i = 0; i < length; ++i) {
    const char byte = bytes[i];
    const bool is_lower = is_between(byte, 'a', 'z');
    const bool is_upper = is_between(byte, 'A', 'Z');
    scratch[i] = (starts ? is_lower : is_upper) ? static_cast<char>(byte ^ 0x20) : byte;
    starts = !is_lower && !is_upper && !is_between(byte, '0', '9');
  }
  return value(String{scratch, length});
}

// Every occurrence of `sought` replaced; an empty one is before and behind each character.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> replace(
    char* scratch, const char* bytes, int32_t length, const char* sought, int32_t sought_length,
    const char* replacement, int32_t replacement_length) {
  using namespace millrace;
  const String text = {bytes, length};
  const String by = {replacement, replacement_length};
  if (!is_well_formed({sought, sought_length}) || !is_well_formed(by) ||
      !(sought_length > 0 ? is_well_formed(text) : has_narrow_code_points(text))) {
    return none<String>(NEEDS_HOST);
  }
  Writer writer = {scratch, 0};
  int32_t done = 0;
  if (sought_length <= 0) {
    while (done < length) {
      const int32_t width = code_point_width(bytes + done, length - done);
      writer.append(by);
      writer.append(bytes + done, width);
      done += width;
    }
    writer.append(by);
    return value(writer.written());
  }
  int32_t at = find_bytes(bytes, length, sought, sought_length, 0);
  if (at < 0) {
    return value(text);
  }
  for (; at >= 0; at = find_bytes(bytes, length, sought, sought_length, done)) {
    writer.append(bytes + done, at - done);
    writer.append(by);
    done = at + sought_length;
  }
  writer.append(bytes + done, length - done);
  return value(writer.written());
}

// Each code point that is in `from` replaced by the one at the same place of `to`, or removed where there is none.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> translate(
    char* scratch, const char* bytes, int32_t length, const char* from, int32_t from_length, const char* to,
    int32_t to_length) {
  using namespace millrace;
  if (length <= 0 || from_length <= 0) {
    return value(String{bytes, length});
  }
  if (!is_well_formed({bytes, length}) || !is_well_formed({from, from_length}) || !is_well_formed({to, to_length})) {
    return none<String>(NEEDS_HOST);
  }
  Writer writer = {scratch, 0};
  int32_t width;
  for (int32_t done = 0; done < length; done += width) {
    width = code_point_width(bytes + done, length - done);
    const Occurrence found = next_occurrence(from, from_length, bytes + done, width, {0, 1});
    if (found.index == 0) {
      writer.append(bytes + done, width);
    } else {
      const int32_t offset = offset_of_code_point(to, to_length, found.index - 1);
      if (offset < to_length) {
        writer.append(to + offset, code_point_width(to + offset, to_length - offset));
      }
    }
  }
  return value(writer.written());
}

// `count` code points of the string from `start` on replaced; the string itself for a start outside of it.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> overlay_for(
    char* scratch, const char* bytes, int32_t length, const char* replacement, int32_t replacement_length,
    int64_t start, int64_t count) {
  using namespace millrace;
  const String text = {bytes, length};
  const String by = {replacement, replacement_length};
  if (!has_narrow_code_points(text) || !is_well_formed(by)) {
    return none<String>(NEEDS_HOST);
  }
  const int32_t units = char_length(bytes, length);
  if (start <= 0 || start > units) {
    return value(text);
  }
  const int32_t replaced = static_cast<int32_t>(count);
  const int64_t end = start + replaced;
  if (replaced > 0 && end > INT32_MAX) {
    return none<String>(INVALID_ARGUMENT);
  }
  Writer writer = {scratch, 0};
  writer.append(bytes, offset_of_code_point(bytes, length, static_cast<int32_t>(start) - 1));
  writer.append(by);
  if (replaced > 0 && end <= units) {
    const int32_t offset = offset_of_code_point(bytes, length, static_cast<int32_t>(end) - 1);
    writer.append(bytes + offset, length - offset);
  }
  return value(writer.written());
}

// As many code points replaced as the replacement has UTF-16 units.
MILLRACE_FUNCTION millrace::Outcome<millrace::String> overlay(
    char* scratch, const char* bytes, int32_t length, const char* replacement, int32_t replacement_length,
    int64_t start) {
  int64_t units = 0;
  int32_t width;
  for (int32_t done = 0; done < replacement_length; done += width) {
    width = millrace::code_point_width(replacement + done, replacement_length - done);
    units += width == 4 ? 2 : 1;
  }
  return overlay_for(scratch, bytes, length, replacement, replacement_length, start, units);
}

// The code points in reverse order.
MILLRACE_FUNCTION millrace::String reverse(char* scratch, const char* bytes, int32_t length) {
  int32_t width;
  for (int32_t done = 0; done < length; done += width) {
    width = millrace::code_point_width(bytes + done, length - done);
    for (int32_t i = 0; i < width; ++i) {
      scratch[length - done - width + i] = bytes[done + i];
    }
  }
  return {scratch, length};
}
