// SPDX-License-Identifier: Apache-2.0
// Stable partition of a micro-batch: one cooperative launch.
//
// Bound: latency. At 64 Ki rows the data is 4 MB (about 1 us of memory time) while a launch with its wait is 9 us, so
// everything happens in one grid that fits on the device at once: each block ranks one tile in registers and publishes
// its counts; after a grid barrier it knows where its rows go. Rows are written straight from registers: the output of a
// micro-batch stays in the second-level cache, so partial lines cost nothing.
//
// Few counts (partitions * blocks <= ONE_BARRIER_COUNTS): every block sums the counts it needs itself, one barrier.
// Many: the grid scans them together first, two barriers. The barrier counter wraps to zero by itself.
//
// Launch shape (Java repeats it): SMALL_THREADS per block; the suffix of the kernel's name is its number of rows per thread;
// chunks = ceil(rows / (SMALL_THREADS * rows per thread)) blocks, all resident (cuLaunchCooperativeKernel);
// dynamic shared memory: 4 * (SMALL_WARPS * partitions + 2 * partitions + WARP) bytes.
// 512 threads of one row give 64 Ki rows 128 blocks: one per multiprocessor.

#include "partition_block.cuh"
#include "row_mover.cuh"

namespace millrace {

constexpr int SMALL_THREADS = 512;
constexpr int SMALL_WARPS = SMALL_THREADS / WARP;
#ifndef ONE_BARRIER_COUNTS
#define ONE_BARRIER_COUNTS 8192
#endif

// One counter per launch. Launches take turns on the slots and leave them zero.
static __device__ uint32_t barriers_of_launches[CONTROL_SLOTS];

struct SmallMemory {
  uint32_t* counters;   // SMALL_WARPS * partitions
  uint32_t* start;      // partitions: the first output row of this block's rows
  uint32_t* total;      // partitions
  uint32_t* warp_sums;  // WARP
};

static __device__ __forceinline__ SmallMemory small_memory(int partitions) {
  extern __shared__ uint32_t words[];
  SmallMemory memory;
  memory.counters = words;
  memory.start = memory.counters + SMALL_WARPS * partitions;
  memory.total = memory.start + partitions;
  memory.warp_sums = memory.total + partitions;
  return memory;
}

static __device__ __forceinline__ uint32_t load_acquire(const uint32_t* address) {
  uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

// Waits for all blocks of the grid. The counter runs from 0 to barriers * blocks and wraps to 0 with the last arrival.
static __device__ __forceinline__ void wait_for_grid(const PartitionArguments& arguments, int barrier, int barriers) {
  uint32_t* counter = &barriers_of_launches[arguments.control_slot];
  const uint32_t blocks = gridDim.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicInc(counter, barriers * blocks - 1);
    if (barrier == barriers) {
      while (load_acquire(counter) != 0) {
      }
    } else {
      while (load_acquire(counter) < barrier * blocks) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}

// One warp turns the counts of one partition into exclusive sums over the chunks, and reports their total.
static __device__ __forceinline__ void scan_partition_over_chunks(const PartitionArguments& arguments, int partition) {
  uint32_t* counts = reinterpret_cast<uint32_t*>(arguments.counts) + static_cast<int64_t>(partition) * arguments.count_stride;
  uint32_t before = 0;
  constexpr int ROUNDS = 4;  // loads in flight
  for (int base = 0; base < arguments.chunks; base += ROUNDS * WARP) {
    uint32_t count[ROUNDS];
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
      int chunk = base + r * WARP + lane_of_thread();
      count[r] = chunk < arguments.chunks ? __ldcg(&counts[chunk]) : 0;
    }
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
      int chunk = base + r * WARP + lane_of_thread();
      uint32_t total;
      uint32_t sum = before + exclusive_scan_of_warp(count[r], total);
      if (chunk < arguments.chunks) __stcg(&counts[chunk], sum);
      before += total;
    }
  }
  if (lane_of_thread() == 0) __stcg(reinterpret_cast<uint32_t*>(arguments.totals) + partition, before);
}

// One warp per partition: the rows of lower blocks, and the total.
static __device__ __forceinline__ void sum_own_counts(const PartitionArguments& arguments, const SmallMemory& memory) {
  const uint32_t* counts = reinterpret_cast<const uint32_t*>(arguments.counts);
  for (int p = warp_of_thread(); p < arguments.partitions; p += SMALL_WARPS) {
    uint32_t before = 0;
    uint32_t total = 0;
    for (int chunk = lane_of_thread(); chunk < arguments.chunks; chunk += WARP) {
      uint32_t count = __ldcg(&counts[p * arguments.count_stride + chunk]);
      total += count;
      if (chunk < static_cast<int>(blockIdx.x)) before += count;
    }
    before = __reduce_add_sync(ALL_LANES, before);
    total = __reduce_add_sync(ALL_LANES, total);
    if (lane_of_thread() == 0) {
      memory.start[p] = before;
      memory.total[p] = total;
    }
  }
}

static __device__ __forceinline__ void load_scanned_counts(const PartitionArguments& arguments,
                                                           const SmallMemory& memory) {
  const uint32_t* counts = reinterpret_cast<const uint32_t*>(arguments.counts);
  const uint32_t* totals = reinterpret_cast<const uint32_t*>(arguments.totals);
  for (int p = threadIdx.x; p < arguments.partitions; p += SMALL_THREADS) {
    memory.start[p] = __ldcg(&counts[p * arguments.count_stride + blockIdx.x]);
    memory.total[p] = __ldcg(&totals[p]);
  }
}

// Publishes this block's counts and leaves the first output row of its part of every partition in memory.start.
static __device__ __forceinline__ void place_block(const PartitionArguments& arguments, const SmallMemory& memory) {
  const int partitions = arguments.partitions;
  uint32_t* counts = reinterpret_cast<uint32_t*>(arguments.counts);
  for (int p = threadIdx.x; p < partitions; p += SMALL_THREADS) {
    __stcg(&counts[p * arguments.count_stride + blockIdx.x], memory.total[p]);
  }
  if (partitions * arguments.chunks <= ONE_BARRIER_COUNTS) {
    wait_for_grid(arguments, 1, 1);
    sum_own_counts(arguments, memory);
  } else {
    wait_for_grid(arguments, 1, 2);
    for (int p = warp_of_thread() * gridDim.x + blockIdx.x; p < partitions; p += SMALL_WARPS * gridDim.x) {
      scan_partition_over_chunks(arguments, p);
    }
    wait_for_grid(arguments, 2, 2);
    load_scanned_counts(arguments, memory);
  }
  __syncthreads();
  exclusive_scan_of_array<SMALL_THREADS>(memory.total, memory.total, partitions, memory.warp_sums);
  __syncthreads();
  if (blockIdx.x == 0) write_offsets(arguments, memory.total);
  for (int p = threadIdx.x; p < partitions; p += SMALL_THREADS) memory.start[p] += memory.total[p];
  __syncthreads();
}

template <typename Source, int ROUNDS>
static __device__ __forceinline__ void partition_small(const PartitionArguments& arguments) {
  const SmallMemory memory = small_memory(arguments.partitions);
  const int partitions = arguments.partitions;
  const int bits = bits_for(partitions);
  const int64_t first = static_cast<int64_t>(blockIdx.x) * SMALL_THREADS * ROUNDS +
                        warp_of_thread() * WARP * ROUNDS + lane_of_thread();
  const int rows = static_cast<int>(min(max(arguments.rows - first, static_cast<int64_t>(0)),
                                        static_cast<int64_t>(WARP * ROUNDS)));
  typename Source::Loaded loaded[ROUNDS];
#pragma unroll
  for (int r = 0; r < ROUNDS; ++r) {
    if (r * WARP < rows) loaded[r] = Source::load(arguments, static_cast<int32_t>(first + r * WARP));
  }
  clear_words(memory.counters, SMALL_WARPS * partitions);
  __syncthreads();
  uint32_t* counters = memory.counters + warp_of_thread() * partitions;
  uint32_t id[ROUNDS];
  uint32_t destination[ROUNDS];
#pragma unroll
  for (int r = 0; r < ROUNDS; ++r) {
    bool present = r * WARP < rows;
    id[r] = present ? Source::partition(arguments, loaded[r]) : 0;
    destination[r] = rank_in_warp(counters, id[r], present, bits);
  }
  __syncthreads();
  scan_counters_over_warps<SMALL_WARPS>(memory.counters, memory.total, partitions);
  __syncthreads();
  place_block(arguments, memory);
#pragma unroll
  for (int r = 0; r < ROUNDS; ++r) destination[r] += memory.start[id[r]] + counters[id[r]];
  move_all_rows<ROUNDS>(arguments.column, arguments.columns, first, rows, destination);
}

}  // namespace millrace

using namespace millrace;

#define MILLRACE_SMALL_KERNEL(name, Source, rounds)                                    \
  extern "C" __global__ void __launch_bounds__(SMALL_THREADS)                          \
      partition_small_##name##_##rounds(const __grid_constant__ PartitionArguments arguments) { \
    partition_small<Source, rounds>(arguments);                                        \
  }

MILLRACE_SMALL_KERNEL(any, AnyKeys, 1)
MILLRACE_SMALL_KERNEL(any, AnyKeys, 4)
MILLRACE_SMALL_KERNEL(long, OneLong, 1)
MILLRACE_SMALL_KERNEL(long, OneLong, 4)
MILLRACE_SMALL_KERNEL(int, OneInt, 1)
MILLRACE_SMALL_KERNEL(int, OneInt, 4)
MILLRACE_SMALL_KERNEL(string, OneString, 1)
MILLRACE_SMALL_KERNEL(string, OneString, 4)
MILLRACE_SMALL_KERNEL(map, GivenMap, 1)
MILLRACE_SMALL_KERNEL(map, GivenMap, 4)
