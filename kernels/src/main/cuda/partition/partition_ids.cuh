// SPDX-License-Identifier: Apache-2.0
// The partition number of each row of a tile, and the tile's count of every partition: the first step of partition.cu.
#pragma once

#include "partition_block.cuh"

namespace millrace {

constexpr int IDS_THREADS = 256;
constexpr int IDS_COUNTERS = 1024;  // replicated so that the lanes of a warp rarely meet

static __device__ __forceinline__ int replicas_of_counters(int partitions) {
  int replicas = WARP;
  while (replicas > 1 && replicas * partitions > IDS_COUNTERS) replicas /= 2;
  return replicas;
}

static __device__ __forceinline__ void store_id(const PartitionArguments& arguments, int64_t row, uint32_t id) {
  switch (arguments.id_width) {
    case 1: reinterpret_cast<uint8_t*>(arguments.ids)[row] = static_cast<uint8_t>(id); break;
    case 2: reinterpret_cast<uint16_t*>(arguments.ids)[row] = static_cast<uint16_t>(id); break;
    default: reinterpret_cast<uint32_t*>(arguments.ids)[row] = id;
  }
}

// Without counts (arguments.counts is 0) only the ids are written: the first step of a multi-pass partitioning.
// A thread has the keys of ROUNDS rows in flight.
template <typename Source, int ROUNDS>
static __device__ __forceinline__ void write_ids(const PartitionArguments& arguments) {
  extern __shared__ uint32_t counters[];
  const bool counted = arguments.counts != 0;
  const int partitions = arguments.partitions;
  const int replicas = replicas_of_counters(partitions);
  const int replica = lane_of_thread() & (replicas - 1);
  if (counted) clear_words(counters, partitions * replicas);
  __syncthreads();
  const int64_t tile = static_cast<int64_t>(blockIdx.x) * arguments.tile_rows;
  const int rows = static_cast<int>(min(arguments.rows - tile, static_cast<int64_t>(arguments.tile_rows)));
  for (int base = threadIdx.x; base < rows; base += IDS_THREADS * ROUNDS) {
    typename Source::Loaded loaded[ROUNDS];
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
      int row = base + r * IDS_THREADS;
      if (row < rows) loaded[r] = Source::load(arguments, static_cast<int32_t>(tile + row));
    }
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
      int row = base + r * IDS_THREADS;
      if (row >= rows) continue;
      uint32_t id = Source::partition(arguments, loaded[r]);
      store_id(arguments, tile + row, id);
      if (counted) atomicAdd(&counters[id * replicas + replica], 1u);
    }
  }
  __syncthreads();
  if (!counted) return;
  uint32_t* counts = reinterpret_cast<uint32_t*>(arguments.counts);
  for (int p = threadIdx.x; p < partitions; p += IDS_THREADS) {
    uint32_t count = 0;
    for (int i = 0; i < replicas; ++i) count += counters[p * replicas + ((i + p) & (replicas - 1))];
    counts[static_cast<int64_t>(p) * arguments.count_stride + blockIdx.x] = count;
  }
}

}  // namespace millrace
