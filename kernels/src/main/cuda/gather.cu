// Moves the rows that a map names: fixed-width columns, validity masks, strings and lists.
//
// Bound: memory; reads are as scattered as the map.
//   gather_fixed_width  a thread takes GATHER_ROUNDS rows, so that as many independent loads are in flight
//   gather_masks        a thread a row, a ballot a word; the grid also covers the padding of the mask, with zeros
//   gather_run_sums, gather_run_scan, gather_strings / gather_list_elements
//                       sums of run lengths a tile, their scan by one block, then offsets and runs; no host wait, since
//                       the caller allocates as many bytes as the input has. A warp copies its rows' runs one by one.
//
// Launch shapes (Java repeats them), all GATHER_THREADS a block:
//   gather_fixed_width  ceil(rows / (GATHER_THREADS * GATHER_ROUNDS)) blocks
//   gather_masks        ceil(bits of the padded output mask / GATHER_THREADS) blocks
//   gather_run_sums, gather_strings, gather_list_elements   ceil(rows / RUNS_TILE) blocks
//   gather_run_scan     one block

#include "gather_arguments.cuh"
#include "partition_block.cuh"

namespace millrace {

constexpr int GATHER_THREADS = 256;
constexpr int GATHER_ROUNDS = 4;
constexpr int RUNS_ROUNDS = 8;
constexpr int RUNS_TILE = GATHER_THREADS * RUNS_ROUNDS;

template <typename Value>
static __device__ __forceinline__ void gather_column(const GatheredBuffer& buffer, int64_t first, int64_t rows,
                                                     const int32_t (&source)[GATHER_ROUNDS]) {
  const Value* input = reinterpret_cast<const Value*>(buffer.input);
  Value* output = reinterpret_cast<Value*>(buffer.output);
  Value value[GATHER_ROUNDS];
#pragma unroll
  for (int r = 0; r < GATHER_ROUNDS; ++r) {
    value[r] = Value{};
    if (source[r] >= 0) value[r] = input[source[r]];
  }
#pragma unroll
  for (int r = 0; r < GATHER_ROUNDS; ++r) {
    if (first + r * GATHER_THREADS < rows) output[first + r * GATHER_THREADS] = value[r];
  }
}

// The first element of a source row's run and its length; a negative row has an empty run.
struct Run {
  int32_t begin;
  int32_t length;
};

static __device__ __forceinline__ Run run_of(const GatherRunsArguments& arguments, int64_t row) {
  if (row >= arguments.rows) return {0, 0};
  const int32_t source = reinterpret_cast<const int32_t*>(arguments.map)[row];
  if (source < 0) return {0, 0};
  const int32_t* offsets = reinterpret_cast<const int32_t*>(arguments.input_offsets);
  return {offsets[source], offsets[source + 1] - offsets[source]};
}

// A thread owns RUNS_ROUNDS rows, WARP apart, of its warp's consecutive ones.
static __device__ __forceinline__ int64_t run_row(int round) {
  return static_cast<int64_t>(blockIdx.x) * RUNS_TILE + warp_of_thread() * WARP * RUNS_ROUNDS + round * WARP +
         lane_of_thread();
}

struct BytesOfStrings {
  static __device__ __forceinline__ void copy(const GatherRunsArguments& arguments, int32_t from, int32_t to) {
    reinterpret_cast<uint8_t*>(arguments.output)[to] = reinterpret_cast<const uint8_t*>(arguments.input_bytes)[from];
  }
};

struct NumbersOfElements {
  static __device__ __forceinline__ void copy(const GatherRunsArguments& arguments, int32_t from, int32_t to) {
    reinterpret_cast<int32_t*>(arguments.output)[to] = from;
  }
};

template <typename Element>
static __device__ __forceinline__ void gather_runs(const GatherRunsArguments& arguments) {
  __shared__ uint32_t warp_sums[WARP];
  Run run[RUNS_ROUNDS];
  uint32_t sum_of_warp = 0;
  int32_t before[RUNS_ROUNDS];
#pragma unroll
  for (int r = 0; r < RUNS_ROUNDS; ++r) {
    run[r] = run_of(arguments, run_row(r));
    uint32_t total;
    before[r] = static_cast<int32_t>(sum_of_warp + exclusive_scan_of_warp(run[r].length, total));
    sum_of_warp += total;
  }
  uint32_t before_thread =
      exclusive_scan_of_block<GATHER_THREADS>(lane_of_thread() == 0 ? sum_of_warp : 0, warp_sums);
  const int32_t before_warp = reinterpret_cast<const int32_t*>(arguments.tile_sums)[blockIdx.x] +
                              static_cast<int32_t>(__shfl_sync(ALL_LANES, before_thread, 0));
  int32_t* output_offsets = reinterpret_cast<int32_t*>(arguments.output_offsets);
#pragma unroll
  for (int r = 0; r < RUNS_ROUNDS; ++r) {
    before[r] += before_warp;
    const int64_t row = run_row(r);
    if (row < arguments.rows) output_offsets[row] = before[r];
    if (row == arguments.rows - 1) output_offsets[row + 1] = before[r] + run[r].length;
  }
#pragma unroll 1
  for (int r = 0; r < RUNS_ROUNDS; ++r) {
    for (int lane = 0; lane < WARP; ++lane) {
      const int32_t begin = __shfl_sync(ALL_LANES, run[r].begin, lane);
      const int32_t length = __shfl_sync(ALL_LANES, run[r].length, lane);
      const int32_t to = __shfl_sync(ALL_LANES, before[r], lane);
      for (int32_t i = lane_of_thread(); i < length && to + i < arguments.capacity; i += WARP) {
        Element::copy(arguments, begin + i, to + i);
      }
    }
  }
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(GatherArguments);
MILLRACE_REPORT_SIZE(GatherRunsArguments);

extern "C" __global__ void __launch_bounds__(GATHER_THREADS)
    gather_fixed_width(const __grid_constant__ GatherArguments arguments) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * GATHER_THREADS * GATHER_ROUNDS + threadIdx.x;
  const int32_t* map = reinterpret_cast<const int32_t*>(arguments.map);
  int32_t source[GATHER_ROUNDS];
#pragma unroll
  for (int r = 0; r < GATHER_ROUNDS; ++r) {
    const int64_t row = first + r * GATHER_THREADS;
    source[r] = row < arguments.rows ? map[row] : -1;
  }
  for (int b = 0; b < arguments.buffers; ++b) {
    const GatheredBuffer& buffer = arguments.buffer[b];
    switch (buffer.width) {
      case 1: gather_column<uint8_t>(buffer, first, arguments.rows, source); break;
      case 2: gather_column<uint16_t>(buffer, first, arguments.rows, source); break;
      case 4: gather_column<uint32_t>(buffer, first, arguments.rows, source); break;
      case 8: gather_column<uint64_t>(buffer, first, arguments.rows, source); break;
      default: gather_column<Wide>(buffer, first, arguments.rows, source);
    }
  }
}

extern "C" __global__ void __launch_bounds__(GATHER_THREADS)
    gather_masks(const __grid_constant__ GatherArguments arguments) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * GATHER_THREADS + threadIdx.x;
  const int32_t source = row < arguments.rows ? reinterpret_cast<const int32_t*>(arguments.map)[row] : -1;
  for (int b = 0; b < arguments.buffers; ++b) {
    const GatheredBuffer& buffer = arguments.buffer[b];
    const bool valid = source >= 0 && bit_of(buffer.input, static_cast<int64_t>(buffer.bit_offset) + source);
    const uint32_t word = __ballot_sync(ALL_LANES, valid);
    if (lane_of_thread() == 0) reinterpret_cast<uint32_t*>(buffer.output)[row / WARP] = word;
  }
}

extern "C" __global__ void __launch_bounds__(GATHER_THREADS)
    gather_run_sums(const __grid_constant__ GatherRunsArguments arguments) {
  __shared__ uint32_t warp_sums[WARP];
  uint32_t length = 0;
#pragma unroll
  for (int r = 0; r < RUNS_ROUNDS; ++r) length += run_of(arguments, run_row(r)).length;
  const uint32_t before = exclusive_scan_of_block<GATHER_THREADS>(length, warp_sums);
  if (threadIdx.x == GATHER_THREADS - 1) {
    reinterpret_cast<uint32_t*>(arguments.tile_sums)[blockIdx.x] = before + length;
  }
}

extern "C" __global__ void __launch_bounds__(GATHER_THREADS)
    gather_run_scan(const __grid_constant__ GatherRunsArguments arguments) {
  __shared__ uint32_t warp_sums[WARP];
  const int tiles = static_cast<int>((static_cast<int64_t>(arguments.rows) + RUNS_TILE - 1) / RUNS_TILE);
  uint32_t* sums = reinterpret_cast<uint32_t*>(arguments.tile_sums);
  exclusive_scan_of_array<GATHER_THREADS>(sums, sums, tiles, warp_sums);
}

extern "C" __global__ void __launch_bounds__(GATHER_THREADS)
    gather_strings(const __grid_constant__ GatherRunsArguments arguments) {
  gather_runs<BytesOfStrings>(arguments);
}

extern "C" __global__ void __launch_bounds__(GATHER_THREADS)
    gather_list_elements(const __grid_constant__ GatherRunsArguments arguments) {
  gather_runs<NumbersOfElements>(arguments);
}
