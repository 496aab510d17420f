// Stable partition of fixed-width columns, any number of rows: three launches.
//
//   partition_ids_*     each block reads the keys (or the map) of its chunk of rows once, writes the partition number of
//                       each row in 1 or 2 bytes and the chunk's count of every partition
//   partition_scan      counts become the rows before the chunk; totals become offsets, written straight to the host
//   partition_scatter   each block takes its chunk tile by tile: ranks the rows, stages each column in shared memory in
//                       partition order, and writes every partition's run of the tile as consecutive addresses
//
// Bound: memory. A row of 28 bytes with an 8-byte key moves 8 + 1 (ids) + 1 + 28 + 28 = 66 bytes. The ids are worth their
// two bytes: the scatter does not depend on the key's type and no string is hashed twice.
// Chunks are contiguous, as many as blocks fit on the device, so that a running position per partition in shared memory
// replaces a scan over tiles. Stability: rank = (rows before the chunk, tile, warp, round, lane), all in row order.
//
// Launch shapes (Java repeats them):
//   partition_ids_*     IDS_THREADS a block, `chunks` blocks, dynamic shared memory: ids_shared_bytes
//   partition_scan      SCAN_THREADS a block, a warp a partition
//   partition_scatter   SCATTER_THREADS a block, `chunks` blocks, dynamic shared memory: scatter_shared_bytes
// 512 threads of 8 rows make a tile of 4096 rows: 32 KiB of staging for 8-byte columns, runs of 64 bytes at 512
// partitions, and three blocks on a multiprocessor.

#include "partition_block.cuh"

namespace millrace {

constexpr int IDS_THREADS = 256;
constexpr int IDS_ROUNDS = 8;
constexpr int IDS_COUNTERS = 4096;  // replicated so that the lanes of a warp rarely meet
constexpr int SCAN_THREADS = 256;
constexpr int SCATTER_THREADS = 512;
constexpr int SCATTER_ROUNDS = 8;
constexpr int SCATTER_WARPS = SCATTER_THREADS / WARP;
#ifndef SCATTER_BLOCKS
#define SCATTER_BLOCKS 3
#endif
constexpr int TILE = SCATTER_THREADS * SCATTER_ROUNDS;

// ---- ids ----

static __device__ __forceinline__ int replicas_of_counters(int partitions) {
  int replicas = WARP;
  while (replicas > 1 && replicas * partitions > IDS_COUNTERS) replicas /= 2;
  return replicas;
}

static __device__ __forceinline__ void store_id(const PartitionArguments& arguments, int32_t row, uint32_t id) {
  switch (arguments.id_width) {
    case 1: reinterpret_cast<uint8_t*>(arguments.ids)[row] = static_cast<uint8_t>(id); break;
    case 2: reinterpret_cast<uint16_t*>(arguments.ids)[row] = static_cast<uint16_t>(id); break;
    default: reinterpret_cast<uint32_t*>(arguments.ids)[row] = id;
  }
}

template <typename Source>
static __device__ __forceinline__ void write_ids(const PartitionArguments& arguments) {
  extern __shared__ uint32_t counters[];
  const bool counted = arguments.counts != 0;
  const int partitions = arguments.partitions;
  const int replicas = replicas_of_counters(partitions);
  const int replica = lane_of_thread() & (replicas - 1);
  if (counted) clear_words(counters, partitions * replicas);
  __syncthreads();
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * arguments.chunk_rows;
  const int64_t end = min(begin + arguments.chunk_rows, static_cast<int64_t>(arguments.rows));
  for (int64_t base = begin + threadIdx.x; base < end; base += IDS_THREADS * IDS_ROUNDS) {
    typename Source::Loaded loaded[IDS_ROUNDS];
#pragma unroll
    for (int r = 0; r < IDS_ROUNDS; ++r) {
      int64_t row = base + r * IDS_THREADS;
      if (row < end) loaded[r] = Source::load(arguments, static_cast<int32_t>(row));
    }
#pragma unroll
    for (int r = 0; r < IDS_ROUNDS; ++r) {
      int64_t row = base + r * IDS_THREADS;
      if (row >= end) continue;
      uint32_t id = Source::partition(arguments, loaded[r]);
      store_id(arguments, static_cast<int32_t>(row), id);
      if (counted) atomicAdd(&counters[id * replicas + replica], 1u);
    }
  }
  __syncthreads();
  if (!counted) return;
  uint32_t* counts = reinterpret_cast<uint32_t*>(arguments.counts);
  for (int p = threadIdx.x; p < partitions; p += IDS_THREADS) {
    uint32_t count = 0;
    for (int i = 0; i < replicas; ++i) count += counters[p * replicas + ((i + p) & (replicas - 1))];
    counts[static_cast<int64_t>(p) * arguments.chunks + blockIdx.x] = count;
  }
}

// ---- scatter ----

struct ScatterMemory {
  uint32_t* counters;     // SCATTER_WARPS * partitions; shares its place with the staging area
  uint8_t* stage;         // TILE elements of 8 bytes
  uint32_t* destination;  // TILE: the output row of each slot of the tile
  uint32_t* position;     // partitions: the next output row of the chunk
  uint32_t* shift;        // partitions: output row minus slot
  uint32_t* total;        // partitions: rows of the tile
  uint32_t* warp_sums;    // WARP
};

static __device__ __forceinline__ ScatterMemory scatter_memory(int partitions) {
  extern __shared__ __align__(16) uint8_t bytes[];
  int counters = SCATTER_WARPS * partitions * 4;
  int shared_place = counters > TILE * 8 ? counters : TILE * 8;
  ScatterMemory memory;
  memory.counters = reinterpret_cast<uint32_t*>(bytes);
  memory.stage = bytes;
  memory.destination = reinterpret_cast<uint32_t*>(bytes + shared_place);
  memory.position = memory.destination + TILE;
  memory.shift = memory.position + partitions;
  memory.total = memory.shift + partitions;
  memory.warp_sums = memory.total + partitions;
  return memory;
}

static __device__ __forceinline__ uint32_t load_id(const PartitionArguments& arguments, int64_t row) {
  switch (arguments.id_width) {
    case 1: return reinterpret_cast<const uint8_t*>(arguments.ids)[row];
    case 2: return reinterpret_cast<const uint16_t*>(arguments.ids)[row];
    default: return reinterpret_cast<const uint32_t*>(arguments.ids)[row];
  }
}

// The row that this thread handles in a round: a warp owns consecutive rows.
static __device__ __forceinline__ int row_in_tile(int round) {
  return warp_of_thread() * WARP * SCATTER_ROUNDS + round * WARP + lane_of_thread();
}

// The slot of each of the thread's rows in the tile, in partition order.
static __device__ __forceinline__ void rank_tile(const PartitionArguments& arguments, const ScatterMemory& memory,
                                                 int64_t tile, int rows, uint16_t (&slot)[SCATTER_ROUNDS]) {
  const int partitions = arguments.partitions;
  const int bits = bits_for(partitions);
  uint32_t* counters = memory.counters + warp_of_thread() * partitions;
  uint32_t id[SCATTER_ROUNDS];
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) {
    int row = row_in_tile(r);
    id[r] = row < rows ? load_id(arguments, tile + row) : 0;
  }
  for (int p = lane_of_thread(); p < partitions; p += WARP) counters[p] = 0;
  __syncwarp();
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) {
    slot[r] = static_cast<uint16_t>(rank_in_warp(counters, id[r], row_in_tile(r) < rows, bits));
  }
  __syncthreads();
  scan_counters_over_warps<SCATTER_WARPS>(memory.counters, memory.total, partitions);
  __syncthreads();
  exclusive_scan_of_array<SCATTER_THREADS>(memory.total, memory.shift, partitions, memory.warp_sums);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) slot[r] += memory.shift[id[r]] + counters[id[r]];
  __syncthreads();
  for (int p = threadIdx.x; p < partitions; p += SCATTER_THREADS) {
    memory.shift[p] = memory.position[p] - memory.shift[p];
    memory.position[p] += memory.total[p];
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) {
    if (row_in_tile(r) < rows) memory.destination[slot[r]] = memory.shift[id[r]] + slot[r];
  }
}

template <typename Value>
static __device__ __forceinline__ Value value_of(const MovedColumn& column, int64_t row) {
  if (sizeof(Value) == 4 && column.input == 0) return static_cast<Value>(row);
  return __ldcs(reinterpret_cast<const Value*>(column.input) + row);
}

template <typename Value>
static __device__ __forceinline__ void move_column(const MovedColumn& column, const ScatterMemory& memory, int64_t tile,
                                                   int rows, const uint16_t (&slot)[SCATTER_ROUNDS]) {
  Value* stage = reinterpret_cast<Value*>(memory.stage);
  Value value[SCATTER_ROUNDS];
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) {
    if (row_in_tile(r) < rows) value[r] = value_of<Value>(column, tile + row_in_tile(r));
  }
  __syncthreads();  // the staging area is free
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) {
    if (row_in_tile(r) < rows) stage[slot[r]] = value[r];
  }
  __syncthreads();
  Value* output = reinterpret_cast<Value*>(column.output);
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) {
    int at = r * SCATTER_THREADS + threadIdx.x;
    if (at < rows) output[memory.destination[at]] = stage[at];
  }
}

// Columns of 16 bytes do not fit the staging area: the slots go there, and the input is read in their order.
static __device__ __forceinline__ void move_wide_column(const MovedColumn& column, const ScatterMemory& memory,
                                                        int64_t tile, int rows,
                                                        const uint16_t (&slot)[SCATTER_ROUNDS]) {
  uint16_t* source = reinterpret_cast<uint16_t*>(memory.stage);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) {
    if (row_in_tile(r) < rows) source[slot[r]] = static_cast<uint16_t>(row_in_tile(r));
  }
  __syncthreads();
  const Wide* input = reinterpret_cast<const Wide*>(column.input) + tile;
  Wide* output = reinterpret_cast<Wide*>(column.output);
#pragma unroll 1
  for (int r = 0; r < SCATTER_ROUNDS; ++r) {
    int at = r * SCATTER_THREADS + threadIdx.x;
    if (at < rows) output[memory.destination[at]] = input[source[at]];
  }
}

static __device__ __forceinline__ void move_columns(const PartitionArguments& arguments, const ScatterMemory& memory,
                                                    int64_t tile, int rows, const uint16_t (&slot)[SCATTER_ROUNDS]) {
  for (int c = 0; c < arguments.columns; ++c) {
    const MovedColumn& column = arguments.column[c];
    switch (column.width) {
      case 1: move_column<uint8_t>(column, memory, tile, rows, slot); break;
      case 2: move_column<uint16_t>(column, memory, tile, rows, slot); break;
      case 4: move_column<uint32_t>(column, memory, tile, rows, slot); break;
      case 8: move_column<uint64_t>(column, memory, tile, rows, slot); break;
      default: move_wide_column(column, memory, tile, rows, slot);
    }
  }
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(PartitionArguments);
MILLRACE_REPORT_SIZE(SortedOffsetsArguments);

extern "C" __global__ void __launch_bounds__(IDS_THREADS)
    partition_ids_any(const __grid_constant__ PartitionArguments arguments) {
  write_ids<AnyKeys>(arguments);
}

extern "C" __global__ void __launch_bounds__(IDS_THREADS)
    partition_ids_long(const __grid_constant__ PartitionArguments arguments) {
  write_ids<OneLong>(arguments);
}

extern "C" __global__ void __launch_bounds__(IDS_THREADS)
    partition_ids_int(const __grid_constant__ PartitionArguments arguments) {
  write_ids<OneInt>(arguments);
}

extern "C" __global__ void __launch_bounds__(IDS_THREADS)
    partition_ids_map(const __grid_constant__ PartitionArguments arguments) {
  write_ids<GivenMap>(arguments);
}

extern "C" __global__ void __launch_bounds__(SCAN_THREADS)
    partition_scan(const __grid_constant__ PartitionArguments arguments) {
  __shared__ uint32_t starts[LARGEST_SINGLE_PASS];
  __shared__ uint32_t warp_sums[WARP];
  __shared__ bool last;
  int partition = blockIdx.x * (SCAN_THREADS / WARP) + warp_of_thread();
  if (partition < arguments.partitions) scan_partition_over_chunks(arguments, partition);
  __threadfence();
  __syncthreads();
  uint32_t* ticket = reinterpret_cast<uint32_t*>(arguments.control) + 1;
  if (threadIdx.x == 0) last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  const uint32_t* totals = reinterpret_cast<const uint32_t*>(arguments.totals);
  for (int p = threadIdx.x; p < arguments.partitions; p += SCAN_THREADS) starts[p] = __ldcg(&totals[p]);
  __syncthreads();
  exclusive_scan_of_array<SCAN_THREADS>(starts, starts, arguments.partitions, warp_sums);
  __syncthreads();
  write_offsets(arguments, starts);
}

extern "C" __global__ void __launch_bounds__(SCATTER_THREADS, SCATTER_BLOCKS)
    partition_scatter(const __grid_constant__ PartitionArguments arguments) {
  const ScatterMemory memory = scatter_memory(arguments.partitions);
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * arguments.chunk_rows;
  const int64_t end = min(begin + arguments.chunk_rows, static_cast<int64_t>(arguments.rows));
  const uint32_t* offsets = reinterpret_cast<const uint32_t*>(arguments.device_offsets);
  const uint32_t* counts = reinterpret_cast<const uint32_t*>(arguments.counts);
  for (int p = threadIdx.x; p < arguments.partitions; p += SCATTER_THREADS) {
    memory.position[p] = offsets[p] + counts[static_cast<int64_t>(p) * arguments.chunks + blockIdx.x];
  }
  for (int64_t tile = begin; tile < end; tile += TILE) {
    int rows = static_cast<int>(min(end - tile, static_cast<int64_t>(TILE)));
    uint16_t slot[SCATTER_ROUNDS];
    __syncthreads();  // the staging area of the last tile becomes counters
    rank_tile(arguments, memory, tile, rows, slot);
    move_columns(arguments, memory, tile, rows, slot);
  }
}

// offsets[p] = the first of the ascending ids that is at least p; for more partitions than one pass takes.
extern "C" __global__ void __launch_bounds__(SCAN_THREADS)
    partition_offsets(const __grid_constant__ SortedOffsetsArguments arguments) {
  int64_t partition = static_cast<int64_t>(blockIdx.x) * SCAN_THREADS + threadIdx.x;
  if (partition > arguments.partitions) return;
  const uint32_t* ids = reinterpret_cast<const uint32_t*>(arguments.ids);
  int64_t low = 0;
  int64_t high = arguments.rows;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (ids[middle] < partition) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  reinterpret_cast<int32_t*>(arguments.device_offsets)[partition] = static_cast<int32_t>(low);
  int32_t* host = reinterpret_cast<int32_t*>(arguments.host_offsets);
  if (host != nullptr) host[partition] = static_cast<int32_t>(low);
}
