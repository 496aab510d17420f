// SPDX-License-Identifier: Apache-2.0
// What a string consists of.

#pragma once

#include "string_edit.cuh"

namespace millrace {

// Whether there are bytes and `test` holds for all of them; bytes that are not ASCII are left to the host.
template <typename Test>
__device__ inline Outcome<int32_t> all_ascii(String text, Test test) {
  bool ascii = true;
  for (int32_t i = 0; i < text.length; ++i) {
    const char byte = text.bytes[i];
    if ((byte & 0x80) != 0) {
      ascii = false;
    } else if (!test(byte)) {
      return value(0);
    }
  }
  return ascii ? value<int32_t>(text.length > 0) : none<int32_t>(NEEDS_HOST);
}

// Reads from the front of a text.
struct Reader {
  const char* bytes;
  int32_t length;

  // The next byte, or 0 at the end.
  __device__ inline char peek() const { return length > 0 ? bytes[0] : '\0'; }

  __device__ inline void skip(int32_t count) {
    bytes += count;
    length -= count;
  }

  __device__ inline bool skip_if(char first, char second) {
    const bool skipped = length > 0 && (bytes[0] == first || bytes[0] == second);
    skip(skipped);
    return skipped;
  }

  __device__ inline int32_t skip_digits() {
    const int32_t before = length;
    while (is_between(peek(), '0', '9')) {
      skip(1);
    }
    return before - length;
  }
};

__device__ inline bool is(Reader reader, const char* word, int32_t length) {
  if (reader.length != length) {
    return false;
  }
  for (int32_t i = 0; i < length; ++i) {
    if (reader.bytes[i] != word[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace millrace

MILLRACE_FUNCTION millrace::Outcome<int32_t> is_alpha(const char* bytes, int32_t length) {
  return millrace::all_ascii({bytes, length}, [](char byte) {
    return millrace::is_between(static_cast<char>(byte | 0x20), 'a', 'z');
  });
}

MILLRACE_FUNCTION millrace::Outcome<int32_t> is_digit(const char* bytes, int32_t length) {
  return millrace::all_ascii({bytes, length}, [](char byte) { return millrace::is_between(byte, '0', '9'); });
}

// Whether Java's Double.parseDouble takes it; hexadecimal numbers and what is not ASCII are left to the host.
MILLRACE_FUNCTION millrace::Outcome<int32_t> is_decimal(const char* bytes, int32_t length) {
  using namespace millrace;
  if (widest_code_point(bytes, length) != 1) {
    return none<int32_t>(NEEDS_HOST);
  }
  Reader reader = {bytes, length};
  while (reader.length > 0 && reader.bytes[0] <= ' ') {
    reader.skip(1);
  }
  while (reader.length > 0 && reader.bytes[reader.length - 1] <= ' ') {
    --reader.length;
  }
  reader.skip_if('+', '-');
  if (is(reader, "NaN", 3) || is(reader, "Infinity", 8)) {
    return value(1);
  }
  if (reader.length > 1 && reader.bytes[0] == '0' && (reader.bytes[1] | 0x20) == 'x') {
    return none<int32_t>(NEEDS_HOST);
  }
  int32_t digits = reader.skip_digits();
  if (reader.skip_if('.', '.')) {
    digits += reader.skip_digits();
  }
  if (digits == 0) {
    return value(0);
  }
  if (reader.skip_if('e', 'E')) {
    reader.skip_if('+', '-');
    if (reader.skip_digits() == 0) {
      return value(0);
    }
  }
  if (!reader.skip_if('f', 'F')) {
    reader.skip_if('d', 'D');
  }
  return value<int32_t>(reader.length == 0);
}
