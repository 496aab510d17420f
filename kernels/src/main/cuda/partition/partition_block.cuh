// SPDX-License-Identifier: Apache-2.0
// What one thread block does in a partitioning kernel: ranks, scans of counters, offsets.
#pragma once

#include "common/block.cuh"
#include "partition_source.cuh"

namespace millrace {

constexpr int LARGEST_SINGLE_PASS = 1024;  // partitions

static __device__ __forceinline__ int bits_for(int partitions) { return partitions <= 1 ? 0 : 32 - __clz(partitions - 1); }

// The lanes of the warp whose partition equals this lane's: one ballot per bit of the partition number.
static __device__ __forceinline__ uint32_t peers_of(uint32_t partition, bool present, int bits) {
  uint32_t peers = __ballot_sync(ALL_LANES, present);
  for (int bit = 0; bit < bits; ++bit) {
    bool is_set = (partition >> bit) & 1;
    uint32_t set = __ballot_sync(ALL_LANES, is_set);
    peers &= is_set ? set : ~set;
  }
  return peers;
}

// The rank of this lane's row among the rows of its partition that this warp has seen: earlier rounds, then lower lanes.
// `counter` is the warp's counter of the partition.
static __device__ __forceinline__ uint32_t rank_in_warp(uint32_t* counters, uint32_t partition, bool present, int bits) {
  uint32_t peers = peers_of(partition, present, bits);
  int lane = lane_of_thread();
  int leader = __ffs(peers) - 1;
  uint32_t seen = 0;
  if (present && lane == leader) seen = atomicAdd(&counters[partition], __popc(peers));
  __syncwarp();
  seen = __shfl_sync(ALL_LANES, seen, leader < 0 ? 0 : leader);
  return seen + __popc(peers & ((1u << lane) - 1));
}

// Exclusive scan of `values` (any count) by one block, in place or from global to shared memory.
template <int THREADS>
static __device__ __forceinline__ void exclusive_scan_of_array(const uint32_t* values, uint32_t* sums, int count,
                                                               uint32_t* warp_sums) {
  int each = (count + THREADS - 1) / THREADS;
  int begin = threadIdx.x * each;
  int end = min(begin + each, count);
  uint32_t sum = 0;
  for (int i = begin; i < end; ++i) sum += values[i];
  uint32_t before = exclusive_scan_of_block<THREADS>(sum, warp_sums);
  for (int i = begin; i < end; ++i) {
    uint32_t value = values[i];
    sums[i] = before;
    before += value;
  }
}

// Turns each warp's counters into the rows of that partition in lower warps, and `totals` into the block's counts.
// counters[warp * partitions + partition].
template <int WARPS>
static __device__ __forceinline__ void scan_counters_over_warps(uint32_t* counters, uint32_t* totals, int partitions) {
  for (int p = threadIdx.x; p < partitions; p += blockDim.x) {
    uint32_t before = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) {
      uint32_t count = counters[w * partitions + p];
      counters[w * partitions + p] = before;
      before += count;
    }
    totals[p] = before;
  }
}

static __device__ __forceinline__ void clear_words(uint32_t* words, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) words[i] = 0;
}

// One block writes the offsets: exclusive sums of the totals, then the row count.
static __device__ __forceinline__ void write_offsets(const PartitionArguments& arguments, const uint32_t* starts) {
  int32_t* device = reinterpret_cast<int32_t*>(arguments.device_offsets);
  int32_t* host = reinterpret_cast<int32_t*>(arguments.host_offsets);
  for (int p = threadIdx.x; p <= arguments.partitions; p += blockDim.x) {
    int32_t offset = p < arguments.partitions ? static_cast<int32_t>(starts[p]) : arguments.rows;
    device[p] = offset;
    if (host != nullptr) host[p] = offset;
  }
}

}  // namespace millrace
