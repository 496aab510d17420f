// SPDX-License-Identifier: Apache-2.0
// Single-pass prefix sums over the tiles of a launch with decoupled look-back (Merrill and Garland, 2016).
//
// A tile publishes its own sum in one word, then adds up the words before it until one holds the sum of all tiles up to
// there. Tiles must be numbered in the order in which their blocks start, so that a block only waits for blocks that run.
#pragma once

#include <cstdint>

namespace millrace {

// A word of the look-back: two bits that say what it holds, then the sum. Zero: nothing yet.
constexpr int LOOK_BACK_STATE_SHIFT = 62;
constexpr uint64_t LOOK_BACK_AGGREGATE = 1;  // the sum of the tile
constexpr uint64_t LOOK_BACK_PREFIX = 2;     // the sum of the tile and of all before it
constexpr uint64_t LOOK_BACK_SUM = (uint64_t{1} << LOOK_BACK_STATE_SHIFT) - 1;
constexpr int LOOK_BACK_LANES = 32;

static __device__ __forceinline__ uint64_t look_back_state(uint64_t word) { return word >> LOOK_BACK_STATE_SHIFT; }

static __device__ __forceinline__ uint64_t wait_for_tile(const volatile uint64_t* words, int32_t tile) {
  if (tile < 0) return LOOK_BACK_PREFIX << LOOK_BACK_STATE_SHIFT;
  uint64_t word;
  do {
    word = words[tile];
  } while (look_back_state(word) == 0);
  return word;
}

// The sum of the tiles before `tile`, which all lanes of the calling warp get. One warp of the tile's block calls it.
static __device__ __forceinline__ int64_t look_back(const volatile uint64_t* words, int32_t tile) {
  const int32_t lane = threadIdx.x % LOOK_BACK_LANES;
  int64_t sum = 0;
  for (int32_t last = tile - 1;; last -= LOOK_BACK_LANES) {
    uint64_t word = wait_for_tile(words, last - lane);
    __syncwarp();
    uint32_t prefixes = __ballot_sync(0xffffffffu, look_back_state(word) == LOOK_BACK_PREFIX);
    int32_t nearest = prefixes == 0 ? LOOK_BACK_LANES - 1 : __ffs(prefixes) - 1;
    int64_t part = lane <= nearest ? static_cast<int64_t>(word & LOOK_BACK_SUM) : 0;
    for (int32_t step = LOOK_BACK_LANES / 2; step > 0; step /= 2) {
      part += __shfl_xor_sync(0xffffffffu, part, step);
    }
    sum += part;
    if (prefixes != 0) return sum;
  }
}

// Publishes the sum of the tile, so that later tiles need not wait for those before it. One thread of the block calls it.
static __device__ __forceinline__ void publish_sum(uint64_t* words, int32_t tile, int64_t total) {
  volatile uint64_t* word = words + tile;
  if (tile > 0) *word = LOOK_BACK_AGGREGATE << LOOK_BACK_STATE_SHIFT | total;
}

// The sum of the tiles before a tile whose sum is published. All lanes of one warp of the block call it.
static __device__ __forceinline__ int64_t sum_before_published_tile(uint64_t* words, int32_t tile, int64_t total) {
  volatile uint64_t* word = words + tile;
  const int64_t before = tile == 0 ? 0 : look_back(words, tile);
  if (threadIdx.x % LOOK_BACK_LANES == 0) *word = LOOK_BACK_PREFIX << LOOK_BACK_STATE_SHIFT | (before + total);
  return before;
}

// Publishes the sum of the tile and returns the sum of the tiles before it. All lanes of one warp of the block call it.
static __device__ __forceinline__ int64_t sum_before_tile(uint64_t* words, int32_t tile, int64_t total) {
  if (threadIdx.x % LOOK_BACK_LANES == 0) publish_sum(words, tile, total);
  return sum_before_published_tile(words, tile, total);
}

}  // namespace millrace
