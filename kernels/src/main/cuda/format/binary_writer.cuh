// SPDX-License-Identifier: Apache-2.0
// Values in Avro's binary encoding.
#pragma once

#include <cstdint>

#include "common/element.cuh"
#include "text_sink.cuh"
#include "write_arguments.cuh"

namespace millrace {

static __device__ __forceinline__ int64_t integer_at(const WriteColumn& column, int32_t width, int32_t row) {
  switch (width) {
    case 1: return element_of<int8_t>(column.values, row);
    case 2: return element_of<int16_t>(column.values, row);
    case 4: return element_of<int32_t>(column.values, row);
    default: return element_of<int64_t>(column.values, row);
  }
}

// A variable-length number, whose sign is its lowest bit.
template <typename Sink>
static __device__ inline void put_varint(Sink& sink, int64_t value) {
  uint64_t bits = static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  uint64_t word = 0;
  int32_t count = 0;
#pragma unroll 1
  for (; bits >= 0x80; bits >>= 7) {
    word |= (bits & 0x7f | 0x80) << (count * 8);
    if (++count < 8) continue;
    sink.put(word, 8);
    word = 0;
    count = 0;
  }
  sink.put(word | bits << (count * 8), count + 1);
}

// The bytes of a word in the other order.
static __device__ __forceinline__ uint64_t reversed(uint64_t word) {
  return static_cast<uint64_t>(__byte_perm(static_cast<uint32_t>(word), 0, 0x0123)) << 32 |
         __byte_perm(static_cast<uint32_t>(word >> 32), 0, 0x0123);
}

// The fewest bytes of a number in two's complement, the highest one first, behind their number.
template <typename Sink>
static __device__ inline void put_unscaled(Sink& sink, uint64_t low, uint64_t high) {
  const int64_t sign = static_cast<int64_t>(high) >> 63;
  const int64_t high_bits = static_cast<int64_t>(high) ^ sign;
  const int64_t low_bits = static_cast<int64_t>(low) ^ sign;
  const int32_t bits = high_bits != 0 ? 128 - __clzll(high_bits) : 64 - __clzll(low_bits);
  const int32_t count = bits / 8 + 1;
  put_varint(sink, count);
  if (count > 8) {
    sink.put(reversed(high) >> (128 - count * 8), count - 8);
    sink.put(reversed(low), 8);
  } else {
    sink.put(reversed(low) >> (64 - count * 8), count);
  }
}

template <typename Sink>
static __device__ inline void put_binary(Sink& sink, const WriteStep& step, const WriteColumn& column, int32_t row) {
  if (step.width == 16) {
    put_unscaled(sink, element_of<uint64_t>(column.values, int64_t{2} * row), element_of<uint64_t>(column.values, int64_t{2} * row + 1));
    return;
  }
  const int64_t value = integer_at(column, step.width, row);
  if (step.kind == WRITE_VARINT) {
    put_varint(sink, value);
  } else if (step.kind == WRITE_FIXED) {
    sink.put(static_cast<uint64_t>(value), step.width);
  } else {
    put_unscaled(sink, static_cast<uint64_t>(value), static_cast<uint64_t>(value >> 63));
  }
}

}  // namespace millrace
