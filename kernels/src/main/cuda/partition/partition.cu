// SPDX-License-Identifier: Apache-2.0
// Stable partition of fixed-width columns, any number of rows: three launches.
//
//   partition_ids_*     one block per tile: reads the keys (or the map) once, writes the partition number of each row in
//                       1 or 2 bytes and the tile's count of every partition
//   partition_scan      one block per partition: counts become the rows before the tile; totals become offsets, written
//                       straight to the host
//   partition_scatter   one block per tile: ranks the rows, then column by column copies the tile into shared memory and
//                       writes every partition's run of it to consecutive addresses
//
// Bound: memory. A row of 28 bytes with an 8-byte key moves 8 + 1 (ids) + 1 + 28 + 28 = 66 bytes, plus 16 bytes per
// partition and tile (0.25 to 2 bytes per row for 64 to 512 partitions). The ids are worth their two bytes: the scatter
// does not depend on the key's type, and no string is hashed twice.
//
// Tiles are taken in row order by short-lived blocks, not as one long range per block: the runs that neighbouring tiles
// write meet in one cache line, and only tiles that run at the same time find that line still in the second-level cache.
// (With long ranges the scatter of 64 Mi rows to 512 partitions took 4.3 ms on an H200, this way 2.4 ms, and 1.8 ms with
// tiles of 8192 rows.)
//
// The scatter keeps three columns of a tile in flight with asynchronous copies that start before the ranking, so the
// loads hide behind it. Ranks and run starts stay in registers for all columns.
// Stability: rank = (rows of lower tiles, lower warps, earlier rounds, lower lanes), all in row order.
//
// Launch shapes (Java repeats them), all with `chunks` = ceil(rows / tile_rows):
//   partition_ids_*           IDS_THREADS per block, `chunks` blocks, shared: max(IDS_COUNTERS, partitions) * 4 bytes
//   partition_scan            SCAN_THREADS per block, `partitions` blocks
//   partition_scatter_<T>     T = 256, 512 or 1024 a block, `chunks` blocks, tile_rows = T * SCATTER_ROUNDS,
//                             shared: SCATTER_SLOTS * (8 * tile_rows + SLOT_PADDING) + 12 * partitions + 4 * WARP bytes
// 512 threads of 8 rows make a tile of 4096 rows; two blocks with three 32 KiB slots each fill the shared memory of a
// multiprocessor of 228 KiB. Many partitions want the longer runs of 8192 rows (128 bytes at 512 partitions and 8-byte
// columns). GPUs with 100 or 164 KiB per multiprocessor take smaller tiles: Java chooses (ScatterTile).

#include "partition_ids.cuh"

namespace millrace {

constexpr int SCAN_THREADS = 256;
constexpr int SCAN_ROUNDS = 4;      // 16-byte loads in flight
constexpr int SCATTER_ROUNDS = 8;
constexpr int SCATTER_SLOTS = 3;
constexpr int SLOT_PADDING = 128;   // a column that starts off a 16-byte boundary needs one copy more
constexpr int COPY_BYTES = 16;

// ---- scan ----

// The blocks of a launch that are done with their partition. Launches take turns on the slots and leave them zero.
static __device__ uint32_t finished_blocks[CONTROL_SLOTS];

// The block turns the counts of one partition into exclusive sums over the chunks, and reports their total.
static __device__ __forceinline__ void scan_counts(const PartitionArguments& arguments, int partition,
                                                   uint32_t* warp_sums) {
  uint4* counts = reinterpret_cast<uint4*>(reinterpret_cast<uint32_t*>(arguments.counts) +
                                           static_cast<int64_t>(partition) * arguments.count_stride);
  __shared__ uint32_t before_round;
  if (threadIdx.x == 0) before_round = 0;
  __syncthreads();
  const int quads = arguments.count_stride / 4;
  for (int base = 0; base < quads; base += SCAN_THREADS * SCAN_ROUNDS) {
    const int first = base + threadIdx.x * SCAN_ROUNDS;
    uint32_t count[SCAN_ROUNDS * 4];
#pragma unroll
    for (int r = 0; r < SCAN_ROUNDS; ++r) {
      uint4 quad = first + r < quads ? counts[first + r] : make_uint4(0, 0, 0, 0);
      count[4 * r] = quad.x;
      count[4 * r + 1] = quad.y;
      count[4 * r + 2] = quad.z;
      count[4 * r + 3] = quad.w;
    }
    uint32_t sum = 0;
#pragma unroll
    for (int i = 0; i < SCAN_ROUNDS * 4; ++i) {
      uint32_t value = first * 4 + i < arguments.chunks ? count[i] : 0;  // the last quad may end in padding
      count[i] = sum;
      sum += value;
    }
    uint32_t before = before_round;
    before += exclusive_scan_of_block<SCAN_THREADS>(sum, warp_sums);
    if (threadIdx.x == SCAN_THREADS - 1) before_round = before + sum;
#pragma unroll
    for (int r = 0; r < SCAN_ROUNDS; ++r) {
      if (first + r < quads) {
        counts[first + r] = make_uint4(before + count[4 * r], before + count[4 * r + 1], before + count[4 * r + 2],
                                       before + count[4 * r + 3]);
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) __stcg(reinterpret_cast<uint32_t*>(arguments.totals) + partition, before_round);
}

// ---- scatter ----

struct ScatterMemory {
  uint8_t* slots;       // SCATTER_SLOTS * slot_bytes: columns of the tile, as they are in the input
  uint32_t* counters;   // a warp * partitions, then the origins; takes the last slots before columns do
  uint32_t* position;   // partitions: the first output row of the tile's run
  uint32_t* shift;      // partitions: output row minus place in the tile
  uint32_t* total;      // partitions: rows of the tile
  uint32_t* warp_sums;  // WARP
  int slot_bytes;
  int free_slots;       // slots that the counters leave to columns
};

template <int THREADS>
static __device__ __forceinline__ ScatterMemory scatter_memory(int partitions) {
  extern __shared__ __align__(128) uint8_t bytes[];
  ScatterMemory memory;
  memory.slots = bytes;
  memory.slot_bytes = THREADS * SCATTER_ROUNDS * 8 + SLOT_PADDING;
  memory.free_slots = THREADS / WARP * partitions * 4 <= memory.slot_bytes ? 2 : 1;
  memory.counters = reinterpret_cast<uint32_t*>(bytes + memory.free_slots * memory.slot_bytes);
  memory.position = reinterpret_cast<uint32_t*>(bytes + SCATTER_SLOTS * memory.slot_bytes);
  memory.shift = memory.position + partitions;
  memory.total = memory.shift + partitions;
  memory.warp_sums = memory.total + partitions;
  return memory;
}

// No cache policy here: ptxas 13 makes illegal instructions of cp.async with one.
static __device__ __forceinline__ void copy_async(void* target, const uint8_t* source) {
  uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(target));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(source) : "memory");
}

static __device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int GROUPS>
static __device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
}

static __device__ __forceinline__ bool is_staged(const MovedColumn& column) {
  return column.input != 0 && column.width <= 8;
}

// Starts the copy of one column of the tile into its slot, from the 16-byte boundary at or before its first byte.
template <int THREADS>
static __device__ __forceinline__ void start_copy(const PartitionArguments& arguments, const ScatterMemory& memory,
                                                  int column_number, int64_t tile, int rows) {
  if (column_number < arguments.columns && is_staged(arguments.column[column_number])) {
    const MovedColumn& column = arguments.column[column_number];
    const uint64_t first = column.input + tile * column.width;
    const int lead = static_cast<int>(first & (COPY_BYTES - 1));
    const int bytes = lead + rows * column.width;
    const int whole = bytes & ~(COPY_BYTES - 1);
    const uint8_t* source = reinterpret_cast<const uint8_t*>(first - lead);
    uint8_t* slot = memory.slots + column_number % SCATTER_SLOTS * memory.slot_bytes;
    for (int at = threadIdx.x * COPY_BYTES; at < whole; at += THREADS * COPY_BYTES) {
      copy_async(slot + at, source + at);
    }
    const int rest = whole + threadIdx.x;
    if (rest < bytes && rest >= lead) slot[rest] = source[rest];
  }
  commit_copies();
}

static __device__ __forceinline__ uint32_t load_id(const PartitionArguments& arguments, int64_t row) {
  switch (arguments.id_width) {
    case 1: return __ldcs(reinterpret_cast<const uint8_t*>(arguments.ids) + row);
    case 2: return __ldcs(reinterpret_cast<const uint16_t*>(arguments.ids) + row);
    default: return __ldcs(reinterpret_cast<const uint32_t*>(arguments.ids) + row);
  }
}

// Before the ranking a warp owns consecutive rows; after it, thread t owns places t, t + THREADS, ...
static __device__ __forceinline__ int ranked_row(int round) {
  return warp_of_thread() * WARP * SCATTER_ROUNDS + round * WARP + lane_of_thread();
}

template <int THREADS>
static __device__ __forceinline__ int owned_place(int round) {
  return round * THREADS + threadIdx.x;
}

// Leaves in shared memory, for each place of the tile in partition order, its origin: row | partition << 16.
template <int THREADS>
static __device__ __forceinline__ void rank_tile(const PartitionArguments& arguments, const ScatterMemory& memory,
                                                 int64_t tile, int rows) {
  const int partitions = arguments.partitions;
  const int bits = bits_for(partitions);
  uint32_t* counters = memory.counters + warp_of_thread() * partitions;
  uint32_t id[SCATTER_ROUNDS];
  uint32_t place[SCATTER_ROUNDS];
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) {
    id[r] = ranked_row(r) < rows ? load_id(arguments, tile + ranked_row(r)) : 0;
  }
  for (int p = lane_of_thread(); p < partitions; p += WARP) counters[p] = 0;
  __syncwarp();
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) place[r] = rank_in_warp(counters, id[r], ranked_row(r) < rows, bits);
  __syncthreads();
  scan_counters_over_warps<THREADS / WARP>(memory.counters, memory.total, partitions);
  __syncthreads();
  exclusive_scan_of_array<THREADS>(memory.total, memory.shift, partitions, memory.warp_sums);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) place[r] += memory.shift[id[r]] + counters[id[r]];
  __syncthreads();  // the counters become origins
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) {
    if (ranked_row(r) < rows) memory.counters[place[r]] = ranked_row(r) | id[r] << 16;
  }
  for (int p = threadIdx.x; p < partitions; p += THREADS) memory.shift[p] = memory.position[p] - memory.shift[p];
  __syncthreads();
}

// Where each of the thread's places takes its row from and puts it.
struct Moves {
  uint16_t origin[SCATTER_ROUNDS];
  uint32_t destination[SCATTER_ROUNDS];
};

template <typename Value, int THREADS>
static __device__ __forceinline__ void move_staged(const MovedColumn& column, const uint8_t* slot, int64_t tile,
                                                   int rows, const Moves& moves) {
  int lead = static_cast<int>((column.input + tile * sizeof(Value)) & (COPY_BYTES - 1));
  const Value* staged = reinterpret_cast<const Value*>(slot + lead);
  Value* output = reinterpret_cast<Value*>(column.output);
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) {
    if (owned_place<THREADS>(r) < rows) output[moves.destination[r]] = staged[moves.origin[r]];
  }
}

// Columns of 16 bytes do not fit a slot: they are read from the input in the order of the output.
template <int THREADS>
static __device__ __forceinline__ void move_unstaged(const MovedColumn& column, int64_t tile, int rows,
                                                     const Moves& moves) {
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) {
    if (owned_place<THREADS>(r) >= rows) continue;
    if (column.input == 0) {
      reinterpret_cast<int32_t*>(column.output)[moves.destination[r]] = static_cast<int32_t>(tile + moves.origin[r]);
    } else {
      reinterpret_cast<Wide*>(column.output)[moves.destination[r]] =
          reinterpret_cast<const Wide*>(column.input)[tile + moves.origin[r]];
    }
  }
}

template <int THREADS>
static __device__ __forceinline__ void move_columns(const PartitionArguments& arguments, const ScatterMemory& memory,
                                                    int64_t tile, int rows, const Moves& moves) {
  for (int c = 0; c < arguments.columns; ++c) {
    const MovedColumn& column = arguments.column[c];
    const uint8_t* slot = memory.slots + c % SCATTER_SLOTS * memory.slot_bytes;
    wait_copies<SCATTER_SLOTS - 1>();
    __syncthreads();
    if (!is_staged(column)) {
      move_unstaged<THREADS>(column, tile, rows, moves);
    } else {
      switch (column.width) {
        case 1: move_staged<uint8_t, THREADS>(column, slot, tile, rows, moves); break;
        case 2: move_staged<uint16_t, THREADS>(column, slot, tile, rows, moves); break;
        case 4: move_staged<uint32_t, THREADS>(column, slot, tile, rows, moves); break;
        default: move_staged<uint64_t, THREADS>(column, slot, tile, rows, moves);
      }
    }
    if (c + SCATTER_SLOTS < arguments.columns) __syncthreads();  // the slot is free
    start_copy<THREADS>(arguments, memory, c + SCATTER_SLOTS, tile, rows);
  }
}

template <int THREADS>
static __device__ __forceinline__ void scatter_tile(const PartitionArguments& arguments) {
  constexpr int TILE = THREADS * SCATTER_ROUNDS;
  const ScatterMemory memory = scatter_memory<THREADS>(arguments.partitions);
  const int64_t tile = static_cast<int64_t>(blockIdx.x) * TILE;
  const int rows = static_cast<int>(min(arguments.rows - tile, static_cast<int64_t>(TILE)));
  for (int c = 0; c < memory.free_slots; ++c) start_copy<THREADS>(arguments, memory, c, tile, rows);
  const uint32_t* offsets = reinterpret_cast<const uint32_t*>(arguments.device_offsets);
  const uint32_t* counts = reinterpret_cast<const uint32_t*>(arguments.counts);
  for (int p = threadIdx.x; p < arguments.partitions; p += THREADS) {
    memory.position[p] = offsets[p] + counts[static_cast<int64_t>(p) * arguments.count_stride + blockIdx.x];
  }
  rank_tile<THREADS>(arguments, memory, tile, rows);
  Moves moves;
#pragma unroll
  for (int r = 0; r < SCATTER_ROUNDS; ++r) {
    uint32_t packed = owned_place<THREADS>(r) < rows ? memory.counters[owned_place<THREADS>(r)] : 0;
    moves.origin[r] = static_cast<uint16_t>(packed);
    moves.destination[r] = memory.shift[packed >> 16] + owned_place<THREADS>(r);
  }
  __syncthreads();  // the origins give way to columns
  for (int c = memory.free_slots; c < SCATTER_SLOTS; ++c) start_copy<THREADS>(arguments, memory, c, tile, rows);
  move_columns<THREADS>(arguments, memory, tile, rows, moves);
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(PartitionArguments);
MILLRACE_REPORT_SIZE(SortedOffsetsArguments);

#define MILLRACE_IDS_KERNEL(name, Source, rounds)                                    \
  extern "C" __global__ void __launch_bounds__(IDS_THREADS)                          \
      partition_ids_##name(const __grid_constant__ PartitionArguments arguments) {   \
    write_ids<Source, rounds>(arguments);                                            \
  }

MILLRACE_IDS_KERNEL(any, AnyKeys, 8)
MILLRACE_IDS_KERNEL(long, OneLong, 8)
MILLRACE_IDS_KERNEL(int, OneInt, 8)
MILLRACE_IDS_KERNEL(string, OneString, 2)  // a copy of the hash functions a round
MILLRACE_IDS_KERNEL(map, GivenMap, 8)

extern "C" __global__ void __launch_bounds__(SCAN_THREADS)
    partition_scan(const __grid_constant__ PartitionArguments arguments) {
  __shared__ uint32_t starts[LARGEST_SINGLE_PASS];
  __shared__ uint32_t warp_sums[WARP];
  __shared__ bool last;
  scan_counts(arguments, blockIdx.x, warp_sums);
  if (threadIdx.x == 0) {
    __threadfence();
    uint32_t* finished = &finished_blocks[arguments.control_slot];
    last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;  // wraps to 0 by itself
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  const uint32_t* totals = reinterpret_cast<const uint32_t*>(arguments.totals);
  for (int p = threadIdx.x; p < arguments.partitions; p += SCAN_THREADS) starts[p] = __ldcg(&totals[p]);
  __syncthreads();
  exclusive_scan_of_array<SCAN_THREADS>(starts, starts, arguments.partitions, warp_sums);
  __syncthreads();
  write_offsets(arguments, starts);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    partition_scatter_256(const __grid_constant__ PartitionArguments arguments) {
  scatter_tile<256>(arguments);
}

extern "C" __global__ void __launch_bounds__(512, 2)
    partition_scatter_512(const __grid_constant__ PartitionArguments arguments) {
  scatter_tile<512>(arguments);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
    partition_scatter_1024(const __grid_constant__ PartitionArguments arguments) {
  scatter_tile<1024>(arguments);
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
