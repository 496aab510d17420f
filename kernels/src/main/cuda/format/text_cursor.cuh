// SPDX-License-Identifier: Apache-2.0
// A reader of text, by aligned words of eight bytes (bytes.cuh says which bytes it may read).
#pragma once

#include <cstdint>

#include "common/bytes.cuh"

namespace millrace {

constexpr uint64_t EACH_BYTE = 0x0101010101010101ull;
constexpr int32_t END_OF_TEXT = -1;

// The highest bit of each byte that is `byte`.
static __device__ __forceinline__ uint64_t bytes_equal(uint64_t word, char byte) {
  return zero_bytes(word ^ (EACH_BYTE * static_cast<uint8_t>(byte)));
}

// The highest bit of each byte below a space.
static __device__ __forceinline__ uint64_t control_bytes(uint64_t word) {
  return ~(((word & LOW_BITS) + EACH_BYTE * 0x60) | word) & NOT_ASCII;
}

static __device__ __forceinline__ bool is_digit(int32_t byte) { return static_cast<uint32_t>(byte - '0') < 10; }

struct TextCursor {
  const uint64_t* words;
  int32_t at;   // bytes from the first word on
  int32_t end;
  uint64_t word;
  int32_t loaded;  // the number of `word`

  static __device__ __forceinline__ TextCursor over(uint64_t address, int32_t start, int32_t end) {
    const int32_t skew = static_cast<int32_t>(address % WORD_BYTES);
    return {reinterpret_cast<const uint64_t*>(address - skew), skew + start, skew + end, 0, -1};
  }

  __device__ __forceinline__ uint64_t word_at(int32_t position) {
    const int32_t number = static_cast<int32_t>(position / WORD_BYTES);
    if (number != loaded) {
      word = words[number];
      loaded = number;
    }
    return word;
  }

  __device__ __forceinline__ int32_t byte_at(int32_t position) {
    return static_cast<int32_t>(word_at(position) >> (position % WORD_BYTES * 8) & 0xff);
  }

  // The byte here, or END_OF_TEXT.
  __device__ __forceinline__ int32_t peek() { return at >= end ? END_OF_TEXT : byte_at(at); }

  __device__ __forceinline__ int32_t next() {
    const int32_t byte = peek();
    ++at;
    return byte;
  }

  __device__ __forceinline__ bool take(char expected) {
    if (peek() != expected) return false;
    ++at;
    return true;
  }

  // Drops a line feed at the end, and a carriage return that is then at the end.
  __device__ __forceinline__ void drop_line_end() {
    if (end > at && byte_at(end - 1) == '\n') --end;
    if (end > at && byte_at(end - 1) == '\r') --end;
  }

  // Up to eight bytes from here, the first one lowest; what is behind the end has any value.
  __device__ __forceinline__ uint64_t next_bytes() {
    const int32_t shift = at % WORD_BYTES * 8;
    const uint64_t low = word_at(at) >> shift;
    if (shift == 0 || static_cast<int32_t>(at / WORD_BYTES * WORD_BYTES + WORD_BYTES) >= end) return low;
    return low | words[at / WORD_BYTES + 1] << (64 - shift);
  }

  // Whether text begins here; `expected` has its bytes in words; what is behind them does not matter.
  __device__ __forceinline__ bool starts_with(const uint64_t* expected, int32_t bytes) {
    if (end - at < bytes) return false;
    const int32_t start = at;
    bool is_equal = true;
    constexpr int32_t STEP = WORD_BYTES;
    for (int32_t left = bytes; is_equal && left > 0; left -= STEP, at += STEP) {
      const uint64_t unused = left >= STEP ? 0 : ~uint64_t{0} << (left * 8);
      is_equal = ((next_bytes() ^ *expected++) & ~unused) == 0;
    }
    at = start;
    return is_equal;
  }

  // Takes up to eight bytes, given as a word, if they are next.
  __device__ __forceinline__ bool take_word(uint64_t expected, int32_t bytes) {
    if (!starts_with(&expected, bytes)) return false;
    at += bytes;
    return true;
  }
};

}  // namespace millrace
