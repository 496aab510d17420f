// SPDX-License-Identifier: Apache-2.0
// Values and strings of columns, as all formats write them.
#pragma once

#include "common/block.cuh"
#include "common/bytes.cuh"
#include "common/element.cuh"
#include "common/look_back.cuh"

namespace millrace {

constexpr int OFFSET_THREADS = 256;
constexpr int OFFSET_ITEMS = 8;  // of a thread
constexpr int OFFSET_TILE = OFFSET_THREADS * OFFSET_ITEMS;
constexpr int STRING_THREADS = 256;
constexpr int STRING_LANES = 8;  // that copy a string together
constexpr int STRING_ROWS = STRING_THREADS / STRING_LANES;  // of a block

template <typename Value>
static __device__ __forceinline__ void put(uint64_t values, int64_t row, Value value) {
  reinterpret_cast<Value*>(values)[row] = value;
}

static __device__ __forceinline__ void put_low_bytes(uint64_t values, int64_t row, int32_t width, uint64_t bits) {
  if (width == 8) {
    put<uint64_t>(values, row, bits);
  } else if (width == 4) {
    put<uint32_t>(values, row, static_cast<uint32_t>(bits));
  } else if (width == 2) {
    put<uint16_t>(values, row, static_cast<uint16_t>(bits));
  } else {
    put<uint8_t>(values, row, static_cast<uint8_t>(bits));
  }
}

// Copies a string by words of the target. All lanes of a group call it.
static __device__ __forceinline__ void copy_string(const char* source, char* target, int32_t bytes, int32_t lane) {
  const uintptr_t start = reinterpret_cast<uintptr_t>(target);
  const uintptr_t end = start + bytes;
  for (uintptr_t word = start / WORD_BYTES * WORD_BYTES + lane * WORD_BYTES; word < end; word += STRING_LANES * WORD_BYTES) {
    const uintptr_t from = max(word, start);
    const int32_t count = static_cast<int32_t>(min(word + WORD_BYTES, end) - from);
    uint64_t value = load_bytes<ConstantMemory>(source + (from - start), count);
    if (count == WORD_BYTES) {
      *reinterpret_cast<uint64_t*>(word) = value;
      continue;
    }
    for (int32_t i = 0; i < count; ++i, value >>= 8) reinterpret_cast<char*>(from)[i] = static_cast<char>(value);
  }
}

// Lengths to offsets in a tile of rows, and their sum to the host. The tiles of a column have blocks of OFFSET_THREADS, all of which
// call this once. `look_back` has a counter and a word for each tile, zero before; `lengths_of_rows` has one more element than rows. The
// length of a row that is not counted is 0.
template <typename IsCounted>
static __device__ __forceinline__ void sum_lengths_of_tile(uint64_t look_back, int32_t tiles, uint64_t lengths_of_rows, int32_t rows,
                                                           uint64_t total_of_rows, IsCounted is_counted) {
  __shared__ uint64_t warp_sums[WARP];
  __shared__ int64_t before_tile;
  __shared__ int32_t tile;
  uint64_t* words = reinterpret_cast<uint64_t*>(look_back);
  if (threadIdx.x == 0) tile = atomicAdd(reinterpret_cast<int32_t*>(words), 1);
  __syncthreads();
  int32_t* offsets = reinterpret_cast<int32_t*>(lengths_of_rows);
  const int64_t first = static_cast<int64_t>(tile) * OFFSET_TILE + threadIdx.x * OFFSET_ITEMS;
  int32_t lengths[OFFSET_ITEMS];
  int64_t sum = 0;
#pragma unroll
  for (int32_t i = 0; i < OFFSET_ITEMS; ++i) {
    const int64_t row = first + i;
    lengths[i] = row < rows && is_counted(static_cast<int32_t>(row)) ? offsets[row] : 0;
    sum += lengths[i];
  }
  int64_t before = exclusive_scan_of_block<OFFSET_THREADS>(static_cast<uint64_t>(sum), warp_sums);
  if (warp_of_thread() == OFFSET_THREADS / WARP - 1) {
    const int64_t total = __shfl_sync(ALL_LANES, before + sum, WARP - 1);
    const int64_t sum_before = sum_before_tile(words + 1, tile, total);
    if (lane_of_thread() == 0) {
      before_tile = sum_before;
      if (tile == tiles - 1) {
        put<int64_t>(total_of_rows, 0, sum_before + total);
        offsets[rows] = static_cast<int32_t>(sum_before + total);
      }
    }
  }
  __syncthreads();
  before += before_tile;
#pragma unroll
  for (int32_t i = 0; i < OFFSET_ITEMS; ++i) {
    if (first + i < rows) offsets[first + i] = static_cast<int32_t>(before);
    before += lengths[i];
  }
}

}  // namespace millrace
