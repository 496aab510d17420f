// SPDX-License-Identifier: Apache-2.0
// How the blocks of a generated kernel share out output positions: single-pass prefix sums with
// decoupled look-back.

#include "common/look_back.cuh"
#include "function.cuh"

using namespace millrace;

namespace {

constexpr int WARP = 32;
constexpr int WARPS = 8;
constexpr uint32_t ALL_LANES = 0xffffffffu;

}  // namespace

// The tile of this block: the next of `counter`, or the block's number where all blocks run at once
// and there is no counter.
MILLRACE_FUNCTION int32_t calc_tile(uint32_t* counter) {
  if (counter == nullptr) return blockIdx.x;
  __shared__ int32_t tile;
  if (threadIdx.x == 0) tile = static_cast<int32_t>(atomicAdd(counter, 1));
  __syncthreads();
  return tile;
}

// The sum of what all warps before this one have, those of earlier tiles included. All threads of
// the block call it, the lanes of a warp with the same sum.
MILLRACE_FUNCTION int64_t calc_exclusive_prefix(uint64_t* words, int32_t tile, int32_t warp_sum) {
  __shared__ int64_t sums[WARPS];
  __shared__ int64_t base;
  int32_t lane = threadIdx.x % WARP;
  int32_t warp = threadIdx.x / WARP;
  if (lane == 0) sums[warp] = warp_sum;
  __syncthreads();
  if (warp == 0) {
    int64_t own = lane < WARPS ? sums[lane] : 0;
    int64_t inclusive = own;
    for (int32_t step = 1; step < WARPS; step *= 2) {
      int64_t before = __shfl_up_sync(ALL_LANES, inclusive, step);
      if (lane >= step) inclusive += before;
    }
    int64_t total = __shfl_sync(ALL_LANES, inclusive, WARPS - 1);
    int64_t exclusive = sum_before_tile(words, tile, total);
    if (lane == 0) base = exclusive;
    if (lane < WARPS) sums[lane] = inclusive - own;
  }
  __syncthreads();
  int64_t prefix = base + sums[warp];
  __syncthreads();
  return prefix;
}

// The sum of the lanes before this one.
MILLRACE_FUNCTION int32_t calc_lane_prefix(int32_t value) {
  int32_t lane = threadIdx.x % WARP;
  int32_t inclusive = value;
  for (int32_t step = 1; step < WARP; step *= 2) {
    int32_t before = __shfl_up_sync(ALL_LANES, inclusive, step);
    if (lane >= step) inclusive += before;
  }
  return inclusive - value;
}

// Sets the bits of the output rows that are valid, in a mask of zeros. `first` is the row of the
// warp's first kept lane; the rows of its kept lanes follow each other.
MILLRACE_FUNCTION void calc_set_valid(uint32_t* mask, int32_t first, int32_t row, int32_t valid) {
  int32_t word = row / WARP - first / WARP;
  uint32_t bit = valid ? 1u << (row % WARP) : 0;
  uint32_t low = __reduce_or_sync(ALL_LANES, word == 0 ? bit : 0);
  uint32_t high = __reduce_or_sync(ALL_LANES, word == 0 ? 0 : bit);
  if (threadIdx.x % WARP == 0) {
    if (low != 0) atomicOr(mask + first / WARP, low);
    if (high != 0) atomicOr(mask + first / WARP + 1, high);
  }
}
