// SPDX-License-Identifier: Apache-2.0
// Warps and blocks: the numbers of threads, and prefix sums.
#pragma once

#include <cstdint>

namespace millrace {

constexpr int WARP = 32;
constexpr uint32_t ALL_LANES = 0xffffffffu;

static __device__ __forceinline__ int lane_of_thread() { return threadIdx.x & (WARP - 1); }
static __device__ __forceinline__ int warp_of_thread() { return threadIdx.x / WARP; }

template <typename Sum>
static __device__ __forceinline__ Sum exclusive_scan_of_warp(Sum value, Sum& total) {
  Sum sum = value;
#pragma unroll
  for (int distance = 1; distance < WARP; distance *= 2) {
    Sum below = __shfl_up_sync(ALL_LANES, sum, distance);
    if (lane_of_thread() >= distance) sum += below;
  }
  total = __shfl_sync(ALL_LANES, sum, WARP - 1);
  return sum - value;
}

// Exclusive scan over the block. Every thread calls it; `warp_sums` holds WARP sums.
template <int THREADS, typename Sum>
static __device__ __forceinline__ Sum exclusive_scan_of_block(Sum value, Sum* warp_sums) {
  Sum total;
  Sum before = exclusive_scan_of_warp(value, total);
  if (lane_of_thread() == 0) warp_sums[warp_of_thread()] = total;
  __syncthreads();
  Sum sum_of_warp = lane_of_thread() < THREADS / WARP ? warp_sums[lane_of_thread()] : 0;
  Sum unused;
  Sum before_warp = exclusive_scan_of_warp(sum_of_warp, unused);
  before += __shfl_sync(ALL_LANES, before_warp, warp_of_thread());
  __syncthreads();
  return before;
}

struct alignas(16) Wide {
  uint64_t low;
  uint64_t high;
};

}  // namespace millrace
