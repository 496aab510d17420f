// SPDX-License-Identifier: Apache-2.0
// Bytes at addresses of any alignment, read by aligned words of eight bytes.
//
// What may be read: each aligned word of which at least one byte is requested, whole, so up to seven bytes before the
// first byte and behind the last one, whoever owns them; no other word is touched. Their values do not matter. This is
// safe in memory of any origin: memory is mapped and protected by pages, of 4 KiB at least and at addresses that are
// multiples of eight, so a word lies in one page, and that page holds a byte that may be read. It holds for a slice,
// for the end of a pool's piece, for arrays of other libraries, which need no padding, and for mapped host memory.
// Shared and local memory and a module's variables begin and end at words. Only compute-sanitizer, which counts bytes
// and not pages, would report such a word at the end of an allocation of another size than whole words:
// CudaMemoryResource and CudaAsyncMemoryResource ask for whole words.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define MILLRACE_BYTES __host__ __device__ __forceinline__
#else
#define MILLRACE_BYTES inline
#endif

namespace millrace {

constexpr uint32_t WORD_BYTES = 8;  // unsigned, so that positions, which are not negative, are divided by a shift
constexpr uint64_t NOT_ASCII = 0x8080808080808080ull;  // bits that are clear in eight ASCII characters

// Memory that this kernel may write, such as scratch memory.
struct AnyMemory {
  static MILLRACE_BYTES uint64_t word(const uint64_t* address) { return *address; }
};

// Global memory of which no thread of the kernel writes the bytes that are asked for.
struct ConstantMemory {
  static MILLRACE_BYTES uint64_t word(const uint64_t* address) {
#if defined(__CUDA_ARCH__)
    return __ldg(reinterpret_cast<const unsigned long long*>(address));
#else
    return *address;
#endif
  }
};

// Up to eight bytes, the first one lowest, with zeros above.
template <typename Memory = AnyMemory>
MILLRACE_BYTES uint64_t load_bytes(const void* from, int32_t count) {
  if (count <= 0) return 0;
  const uintptr_t address = reinterpret_cast<uintptr_t>(from);
  const uint64_t* words = reinterpret_cast<const uint64_t*>(address & ~uintptr_t{7});
  const int32_t shift = static_cast<int32_t>(address & 7) * 8;
  uint64_t value = Memory::word(words) >> shift;
  if (shift + count * 8 > 64) value |= Memory::word(words + 1) << (64 - shift);
  return count == 8 ? value : value & ((uint64_t{1} << (count * 8)) - 1);
}

constexpr uint64_t LOW_BITS = 0x7f7f7f7f7f7f7f7full;

// The highest bit of each byte that is zero. No byte changes the answer for another one.
MILLRACE_BYTES uint64_t zero_bytes(uint64_t word) {
  return ~(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS);
}

// How many bytes below the lowest set bit; `word` is not 0.
MILLRACE_BYTES int32_t bytes_below(uint64_t word) {
#if defined(__CUDA_ARCH__)
  return (__ffsll(static_cast<long long>(word)) - 1) >> 3;
#else
  return __builtin_ctzll(word) >> 3;
#endif
}

// How many of the lowest `count` bytes come before the first that is not ASCII.
MILLRACE_BYTES int32_t leading_ascii(uint64_t word, int32_t count) {
  const uint64_t others = word & NOT_ASCII;
  return others == 0 ? count : bytes_below(others);
}

}  // namespace millrace
