// SPDX-License-Identifier: Apache-2.0
// Integers and decimals as text.
#pragma once

#include <cstdint>

#include "text_sink.cuh"

namespace millrace {

constexpr uint64_t ZERO_DIGITS = EACH_BYTE * '0';
constexpr uint32_t GROUP = 100000000;  // a number has eight digits below it
constexpr int32_t GROUPS = 5;
constexpr int32_t DIGITS = GROUPS * 8;

// The digits of a number below 10^8, the first one lowest, as numbers.
static __device__ __forceinline__ uint64_t eight_digits(uint32_t number) {
  const uint64_t fours = (number / 10000) | static_cast<uint64_t>(number % 10000) << 32;
  const uint64_t hundreds = (fours * 10486 >> 20) & 0x7f0000007full;
  const uint64_t twos = hundreds + ((fours - 100 * hundreds) << 16);
  const uint64_t tens = (twos * 103 >> 10) & 0xf000f000f000full;
  return tens + ((twos - 10 * tens) << 8);
}

// Two digits of a number below 100.
static __device__ __forceinline__ uint64_t two_digits(int32_t number) {
  return static_cast<uint64_t>('0' + number / 10) | static_cast<uint64_t>('0' + number % 10) << 8;
}

// A number of up to 128 bits: its 40 digits, with zeros in front.
struct NumberDigits {
  uint64_t words[GROUPS + 1];
  int32_t first;  // the first digit that is not zero, or else the last one

  __device__ __forceinline__ void set_group(int32_t group, uint32_t number) {
    const uint64_t digits = eight_digits(number);
    words[group] = digits | ZERO_DIGITS;
    if (number != 0) first = group * 8 + bytes_below(digits);
  }

  // Eight digits from a position on.
  __device__ __forceinline__ uint64_t digits_at(int32_t position) const {
    const int32_t shift = position % 8 * 8;
    const uint64_t low = words[position / 8] >> shift;
    return shift == 0 ? low : low | words[position / 8 + 1] << (64 - shift);
  }

  __device__ __forceinline__ bool is_zero_at(int32_t position) const { return (digits_at(position) & 0xff) == '0'; }
};

static __device__ __forceinline__ NumberDigits digits_of(uint64_t low, uint64_t high) {
  NumberDigits digits;
  digits.first = DIGITS - 1;
  digits.words[GROUPS] = 0;
  if (high == 0) {
#pragma unroll
    for (int32_t group = GROUPS - 1; group >= 0; --group) {
      digits.set_group(group, static_cast<uint32_t>(low % GROUP));
      low /= GROUP;
    }
    return digits;
  }
  uint32_t limbs[] = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
                      static_cast<uint32_t>(high >> 32)};
#pragma unroll 1
  for (int32_t group = GROUPS - 1; group >= 0; --group) {
    uint64_t rest = 0;
    for (int32_t i = 3; i >= 0; --i) {
      const uint64_t value = rest << 32 | limbs[i];
      limbs[i] = static_cast<uint32_t>(value / GROUP);
      rest = value % GROUP;
    }
    digits.set_group(group, static_cast<uint32_t>(rest));
  }
  return digits;
}

template <typename Sink>
static __device__ __forceinline__ void put_digits(Sink& sink, const NumberDigits& digits, int32_t from, int32_t to) {
#pragma unroll 1
  for (; from < to; from += 8) sink.put(digits.digits_at(from), to - from < 8 ? to - from : 8);
}

// Puts a number below 10^8.
template <typename Sink>
static __device__ __forceinline__ void put_small_number(Sink& sink, uint32_t number) {
  const uint64_t digits = eight_digits(number);
  const int32_t zeros = number == 0 ? 7 : bytes_below(digits);
  sink.put((digits | ZERO_DIGITS) >> (zeros * 8), 8 - zeros);
}

// Plain notation with `scale` digits behind the point, and at least one before it.
template <typename Sink>
static __device__ inline void put_decimal(Sink& sink, uint64_t low, int64_t high, int32_t scale) {
  uint64_t upper = static_cast<uint64_t>(high);
  if (high < 0) {
    sink.put('-');
    low = 0 - low;
    upper = ~upper + (low == 0);
  }
  if (scale == 0 && upper == 0 && low < GROUP) {
    put_small_number(sink, static_cast<uint32_t>(low));
    return;
  }
  const NumberDigits digits = digits_of(low, upper);
  const int32_t point = DIGITS - scale;
  put_digits(sink, digits, digits.first < point ? digits.first : point - 1, point);
  if (scale > 0) {
    sink.put('.');
    put_digits(sink, digits, point, DIGITS);
  }
}

}  // namespace millrace
