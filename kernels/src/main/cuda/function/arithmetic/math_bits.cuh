// SPDX-License-Identifier: Apache-2.0
// The words of a double, by which fdlibm's algorithms decide and split.

#pragma once

#include <cstdint>
#include <cstring>

namespace millrace {

__device__ inline int64_t bits_of(double value) {
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

__device__ inline double from_bits(int64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Sign, exponent and the first twenty bits of the fraction.
__device__ inline int32_t high_word(double value) {
  return static_cast<int32_t>(bits_of(value) >> 32);
}

__device__ inline uint32_t low_word(double value) { return static_cast<uint32_t>(bits_of(value)); }

__device__ inline double from_words(int32_t high, uint32_t low) {
  return from_bits(static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 | low));
}

__device__ inline double with_high_word(double value, int32_t high) {
  return from_words(high, low_word(value));
}

__device__ inline double clear_low_word(double value) {
  return from_bits(bits_of(value) & ~0xffffffffLL);
}

// value * 2^exponent where neither is subnormal or overflows.
__device__ inline double add_exponent(double value, int32_t exponent) {
  return from_bits(bits_of(value) + static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(exponent)) << 52));
}

__device__ inline double power_of_two(int32_t exponent) { return add_exponent(1.0, exponent); }

__device__ inline double positive_infinity() { return from_words(0x7ff00000, 0); }

__device__ inline double not_a_number() { return from_words(0x7ff80000, 0); }

}  // namespace millrace
