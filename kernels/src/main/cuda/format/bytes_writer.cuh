// SPDX-License-Identifier: Apache-2.0
// Strings and bytes as text.
#pragma once

#include <cstdint>

#include "text_sink.cuh"

namespace millrace {

static __device__ __forceinline__ uint64_t word_of_string(const char* bytes, int32_t count) {
  return load_bytes<ConstantMemory>(bytes, count);
}

static __device__ __forceinline__ uint64_t hex_digit(uint64_t number) { return number < 10 ? '0' + number : 'a' + number - 10; }

// A byte that JSON must escape: the escape, and how long it is.
template <typename Sink>
static __device__ inline void put_escape(Sink& sink, uint64_t byte) {
  const uint64_t backslash = '\\';
  uint64_t letter = 0;
  switch (byte) {
    case '"': letter = '"'; break;
    case '\\': letter = '\\'; break;
    case '\n': letter = 'n'; break;
    case '\r': letter = 'r'; break;
    case '\t': letter = 't'; break;
  }
  if (letter != 0) {
    sink.put(backslash | letter << 8, 2);
  } else {
    sink.put(backslash | uint64_t{'u'} << 8 | uint64_t{'0'} << 16 | uint64_t{'0'} << 24 | hex_digit(byte >> 4) << 32 |
                 hex_digit(byte & 15) << 40,
             6);
  }
}

// A string of JSON. Its bytes are not checked.
template <typename Sink>
static __device__ inline void put_escaped(Sink& sink, const char* bytes, int32_t length) {
  sink.put('"');
#pragma unroll 1
  for (int32_t at = 0; at < length; at += 8) {
    const int32_t count = length - at < 8 ? length - at : 8;
    uint64_t word = word_of_string(bytes + at, count);
    uint64_t special = bytes_equal(word, '"') | bytes_equal(word, '\\') | control_bytes(word);
    special &= lowest_bytes(count);
    if (special == 0) {
      sink.put(word, count);
      continue;
    }
#pragma unroll 1
    for (int32_t i = 0; i < count; ++i, word >>= 8, special >>= 8) {
      if ((special & 0x80) != 0) {
        put_escape(sink, word & 0xff);
      } else {
        sink.put(word, 1);
      }
    }
  }
  sink.put('"');
}

template <typename Sink>
static __device__ inline void put_bytes(Sink& sink, const char* bytes, int32_t length) {
#pragma unroll 1
  for (int32_t at = 0; at < length; at += 8) {
    const int32_t count = length - at < 8 ? length - at : 8;
    sink.put(word_of_string(bytes + at, count), count);
  }
}

static __device__ __forceinline__ uint64_t base64_digit(uint32_t bits) {
  const uint32_t number = bits & 63;
  if (number < 26) return 'A' + number;
  if (number < 52) return 'a' + number - 26;
  return number < 62 ? '0' + number - 52 : number == 62 ? '+' : '/';
}

template <typename Sink>
static __device__ inline void put_base64(Sink& sink, const char* bytes, int32_t length) {
  const uint64_t padding = '=';
#pragma unroll 1
  for (int32_t at = 0; at < length; at += 3) {
    const int32_t count = length - at < 3 ? length - at : 3;
    const uint32_t word = static_cast<uint32_t>(word_of_string(bytes + at, count));
    const uint32_t bits = (word & 0xff) << 16 | (word & 0xff00) | (word >> 16 & 0xff);
    sink.put(base64_digit(bits >> 18) | base64_digit(bits >> 12) << 8 |
                 (count > 1 ? base64_digit(bits >> 6) : padding) << 16 | (count > 2 ? base64_digit(bits) : padding) << 24,
             4);
  }
}

}  // namespace millrace
