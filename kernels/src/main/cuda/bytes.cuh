// Bytes at addresses of any alignment, read by aligned words of eight bytes.
//
// A word that holds one of the bytes wanted is loaded whole only where all of it lies in the buffer: memory that others
// allocated may begin and end anywhere.
#pragma once

#include "partition_arguments.cuh"

namespace millrace {

constexpr uint64_t NOT_ASCII = 0x8080808080808080ull;  // bits that are clear in eight ASCII characters

// The aligned words that lie in a buffer: from address `begin` to before address `end`.
struct AlignedWords {
  uint64_t begin;
  uint64_t end;
};

MILLRACE_FUNCTION AlignedWords aligned_words_of(uint64_t address, int64_t bytes) {
  return {(address + 7) & ~7ull, (address + static_cast<uint64_t>(bytes)) & ~7ull};
}

// Memory that no thread of the kernel writes.
template <typename Value>
MILLRACE_FUNCTION Value load_constant(const uint8_t* address) {
#if defined(__CUDA_ARCH__)
  return __ldg(reinterpret_cast<const Value*>(address));
#else
  return *reinterpret_cast<const Value*>(address);
#endif
}

// Up to eight bytes, the first one lowest, with zeros above.
MILLRACE_FUNCTION uint64_t load_bytes(const uint8_t* bytes, int32_t count, const AlignedWords& words) {
  if (count <= 0) return 0;
  const uint64_t address = reinterpret_cast<uint64_t>(bytes);
  const uint64_t first = address & ~7ull;
  const uint64_t last = (address + count - 1) & ~7ull;
  uint64_t value = 0;
  if (first < words.begin || last >= words.end) {
#pragma unroll 1
    for (int32_t i = 0; i < count; ++i) {
      value |= static_cast<uint64_t>(load_constant<uint8_t>(bytes + i)) << (8 * i);
    }
    return value;
  }
  const int32_t lead = static_cast<int32_t>(address & 7);
  value = load_constant<unsigned long long>(bytes - lead) >> (8 * lead);
  if (last != first) value |= load_constant<unsigned long long>(bytes - lead + 8) << (64 - 8 * lead);
  return count == 8 ? value : value & ((1ull << (8 * count)) - 1);
}

// How many of the lowest `count` bytes come before the first that is not ASCII.
MILLRACE_FUNCTION int32_t leading_ascii(uint64_t word, int32_t count) {
  const uint64_t others = word & NOT_ASCII;
  if (others == 0) return count;
#if defined(__CUDA_ARCH__)
  return (__ffsll(static_cast<long long>(others)) - 1) >> 3;
#else
  return __builtin_ctzll(others) >> 3;
#endif
}

}  // namespace millrace
