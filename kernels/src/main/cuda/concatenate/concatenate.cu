// SPDX-License-Identifier: Apache-2.0
// The parts of joined columns that are no plain copies.
//
//   concatenate_bits     appends a mask to another at any bit
//   concatenate_offsets  appends the offsets of strings
//
// Bound: memory; neighbouring threads read and write neighbouring words.
//
// Launch shapes (Java repeats them): CONCATENATE_THREADS per block and any number of blocks.

#include "common/block.cuh"
#include "common/element.cuh"

namespace millrace {

constexpr int CONCATENATE_THREADS = 256;
constexpr int WORD_BITS_COUNT = 32;

struct ConcatenateBitsArguments {
  uint64_t target;      // zero from target_bit on
  uint64_t source;      // 0: all bits are set
  int64_t target_bit;
  int64_t source_bit;
  int64_t bits;         // at least 1
};

struct ConcatenateOffsetsArguments {
  uint64_t target;  // int32 per offset
  uint64_t source;  // likewise
  int64_t count;
  int32_t shift;    // what is added
  int32_t padding;
};

// The 32 bits from a bit on; bits from `end` on are zero and are not read.
static __device__ __forceinline__ uint32_t bits_from(uint64_t mask, int64_t first, int64_t end) {
  uint32_t bits = 0;
  for (int64_t byte = first >> 3; byte <= (first + WORD_BITS_COUNT - 1) >> 3 && byte << 3 < end; ++byte) {
    const uint64_t value = element_of<uint8_t>(mask, byte);
    const int64_t shift = (byte << 3) - first;
    bits |= static_cast<uint32_t>(shift < 0 ? value >> -shift : value << shift);
  }
  const int64_t left = end - first;
  return left >= WORD_BITS_COUNT ? bits : bits & ((1u << left) - 1);
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(ConcatenateBitsArguments);
MILLRACE_REPORT_SIZE(ConcatenateOffsetsArguments);

// A thread per word of the target; the first and the last word may have bits of other parts.
extern "C" __global__ void __launch_bounds__(CONCATENATE_THREADS)
    concatenate_bits(const __grid_constant__ ConcatenateBitsArguments arguments) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * CONCATENATE_THREADS;
  const int64_t first_word = arguments.target_bit / WORD_BITS_COUNT;
  const int64_t words = (arguments.target_bit + arguments.bits - 1) / WORD_BITS_COUNT - first_word + 1;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(CONCATENATE_THREADS) + threadIdx.x; i < words; i += stride) {
    const int64_t word = first_word + i;
    const int64_t first = max(word * WORD_BITS_COUNT, arguments.target_bit);
    const int64_t done = first - arguments.target_bit;
    const int64_t left = min(arguments.bits - done, (word + 1) * WORD_BITS_COUNT - first);
    const int64_t source = arguments.source_bit + done;
    const uint32_t wanted = left >= WORD_BITS_COUNT ? 0xffffffffu : (1u << left) - 1;
    const uint32_t bits = arguments.source == 0 ? wanted : bits_from(arguments.source, source, source + left);
    atomicOr(reinterpret_cast<uint32_t*>(arguments.target) + word, bits << (first - word * WORD_BITS_COUNT));
  }
}

extern "C" __global__ void __launch_bounds__(CONCATENATE_THREADS)
    concatenate_offsets(const __grid_constant__ ConcatenateOffsetsArguments arguments) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * CONCATENATE_THREADS;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(CONCATENATE_THREADS) + threadIdx.x; i < arguments.count; i += stride) {
    reinterpret_cast<int32_t*>(arguments.target)[i] = element_of<int32_t>(arguments.source, i) + arguments.shift;
  }
}
