// SPDX-License-Identifier: Apache-2.0
// Characters of Base64 (RFC 4648) with padding, one after the other.
#pragma once

#include "text_cursor.cuh"

namespace millrace {

constexpr int32_t NO_BASE64_DIGIT = -1;

// The value of a character, 0 to 63; NO_BASE64_DIGIT if it has none.
static __device__ __forceinline__ int32_t base64_digit(int32_t byte) {
  if (byte >= 'A' && byte <= 'Z') return byte - 'A';
  if (byte >= 'a' && byte <= 'z') return byte - 'a' + 26;
  if (is_digit(byte)) return byte - '0' + 52;
  return byte == '+' ? 62 : byte == '/' ? 63 : NO_BASE64_DIGIT;
}

// A group of four characters stands for three bytes.
struct Base64Text {
  int32_t characters;
  int32_t padding;

  // Takes the next character; false if it cannot stand there.
  __device__ __forceinline__ bool add(int32_t byte) {
    ++characters;
    if (byte == '=') return ++padding < 3;
    return padding == 0 && base64_digit(byte) != NO_BASE64_DIGIT;
  }

  __device__ __forceinline__ bool is_complete() const { return characters % 4 == 0; }

  __device__ __forceinline__ int32_t bytes() const { return characters / 4 * 3 - padding; }
};

}  // namespace millrace
