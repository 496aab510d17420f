// SPDX-License-Identifier: Apache-2.0
// Moves the rows that a map names: fixed-width columns, validity masks, strings and lists.
//
// Bound: memory; reads are as scattered as the map.
//   gather_fixed_width  a thread takes GATHER_ROUNDS rows, so that as many loads are in flight at once
//   gather_masks        one thread per row, one ballot per word; the grid also covers the mask's padding, with zeros
//   gather_strings, gather_list_elements
//                       one block per tile of rows: the tile's offsets go to shared memory, the elements of earlier tiles
//                       come from the look-back, and threads divide the tile's output, not its rows. So short
//                       and long runs are alike: each thread writes 16 aligned bytes, of one or several strings.
//   gather_run_sums     the elements of each tile, for maps that are better not taken in row order
//   gather_run_total    the elements of all rows
//
// A random map costs a row two reads of a sector: of the offsets and of the string. One pass with a look-back reads the
// offsets once. The map of a partitioning into P partitions is P ascending sequences: tiles that are P apart in the
// output read the same lines of the input. Blocks then take tiles from P stripes of the output in turn, so that these
// lines are read from memory once. A look-back cannot wait for tiles that start later, so the sums come first.
//
// No host wait: the caller allocates as many bytes as the input has. What does not fit, because the map names rows
// twice, is dropped.
//
// Launch shapes (Java repeats them), all GATHER_THREADS per block:
//   gather_fixed_width  ceil(rows / (GATHER_THREADS * GATHER_ROUNDS)) blocks
//   gather_masks        ceil(bits of the padded output mask / GATHER_THREADS) blocks
//   gather_strings_<R>, gather_list_elements_<R>   tile_rows <= GATHER_THREADS * R; `tiles` blocks, or
//                       stripes * stripe_tiles
//   gather_run_sums     tile_rows <= GATHER_THREADS * 4, stripes * stripe_tiles blocks
//   gather_run_total    any number of blocks

#include "common/block.cuh"
#include "common/bytes.cuh"
#include "common/element.cuh"
#include "common/look_back.cuh"
#include "gather_arguments.cuh"

namespace millrace {

constexpr int GATHER_THREADS = 256;
constexpr int GATHER_ROUNDS = 4;
constexpr int SUMS_GROUP = 256;  // tiles whose sums have a sum of their own
constexpr int CHUNK = 16;        // bytes that a thread stores at once

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

// The first element of a source row's run and its length.
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

static __device__ __forceinline__ Run run_of_place(const GatherRunsArguments& arguments, int32_t tile, int32_t place) {
  if (place >= arguments.tile_rows) return {0, 0};
  return run_of(arguments, static_cast<int64_t>(tile) * arguments.tile_rows + place);
}

static __device__ __forceinline__ uint64_t* look_back_words(const GatherRunsArguments& arguments) {
  return reinterpret_cast<uint64_t*>(arguments.scratch) + 1;
}

static __device__ __forceinline__ uint64_t* group_sums(const GatherRunsArguments& arguments) {
  return reinterpret_cast<uint64_t*>(arguments.scratch);
}

static __device__ __forceinline__ uint64_t* tile_sums(const GatherRunsArguments& arguments) {
  return group_sums(arguments) + (arguments.tiles + SUMS_GROUP - 1) / SUMS_GROUP;
}

static __device__ __forceinline__ int32_t striped_tile(const GatherRunsArguments& arguments) {
  return static_cast<int32_t>(blockIdx.x % arguments.stripes * arguments.stripe_tiles + blockIdx.x / arguments.stripes);
}

static __device__ __forceinline__ int32_t next_tile(const GatherRunsArguments& arguments) {
  __shared__ int32_t tile;
  if (threadIdx.x == 0) tile = static_cast<int32_t>(atomicAdd(reinterpret_cast<uint32_t*>(arguments.scratch), 1u));
  __syncthreads();
  return tile;
}

// The sum over the block, which its last thread gets.
static __device__ __forceinline__ uint64_t sum_of_block(uint64_t value) {
  __shared__ uint64_t warp_sums[WARP];
  return exclusive_scan_of_block<GATHER_THREADS>(value, warp_sums) + value;
}

// The elements of the tiles before this one. All threads of the block call it; what they wrote to shared memory before
// is visible after it.
static __device__ __forceinline__ uint64_t elements_before(const GatherRunsArguments& arguments, int32_t tile,
                                                           const uint64_t& total) {
  __shared__ uint64_t before;
  if (arguments.stripes == 0) {
    __syncthreads();
    if (warp_of_thread() == 0) {
      const int64_t sum = sum_before_tile(look_back_words(arguments), tile, static_cast<int64_t>(total));
      if (lane_of_thread() == 0) before = static_cast<uint64_t>(sum);
    }
  } else {
    const int32_t group = tile / SUMS_GROUP;
    uint64_t sum = 0;
    for (int32_t i = threadIdx.x; i < group; i += GATHER_THREADS) sum += group_sums(arguments)[i];
    for (int32_t i = group * SUMS_GROUP + threadIdx.x; i < tile; i += GATHER_THREADS) sum += tile_sums(arguments)[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == GATHER_THREADS - 1) before = sum;
  }
  __syncthreads();
  return before;
}

// The runs of a tile of up to ROWS rows, a power of two. Places beyond the rows have no elements.
template <int ROWS>
struct TileRuns {
  uint32_t start[ROWS + 1];  // the first element in the tile; at the end, the number of elements. At most 2^32 - 1
  int32_t source[ROWS];      // the first element in the input
  uint64_t total;

  // The place whose run holds an element of the tile.
  __device__ __forceinline__ int32_t place_of(uint32_t element) const {
    int32_t place = 0;
#pragma unroll
    for (int32_t step = ROWS / 2; step > 0; step /= 2) {
      if (start[place + step] <= element) place += step;
    }
    return place;
  }
};

// Fills in what one thread's consecutive places have. Visible after the next barrier.
template <int ROUNDS>
static __device__ __forceinline__ void stage_runs(const GatherRunsArguments& arguments, int32_t tile,
                                                  TileRuns<GATHER_THREADS * ROUNDS>& runs) {
  __shared__ uint64_t warp_sums[WARP];
  const int32_t first = threadIdx.x * ROUNDS;
  Run run[ROUNDS];
  uint64_t length = 0;
#pragma unroll
  for (int r = 0; r < ROUNDS; ++r) run[r] = run_of_place(arguments, tile, first + r);
#pragma unroll
  for (int r = 0; r < ROUNDS; ++r) length += run[r].length;
  uint64_t before = exclusive_scan_of_block<GATHER_THREADS>(length, warp_sums);
#pragma unroll
  for (int r = 0; r < ROUNDS; ++r) {
    runs.start[first + r] = static_cast<uint32_t>(min(before, uint64_t{UINT32_MAX}));
    runs.source[first + r] = run[r].begin;
    before += run[r].length;
  }
  if (threadIdx.x == GATHER_THREADS - 1) {
    runs.start[first + ROUNDS] = static_cast<uint32_t>(min(before, uint64_t{UINT32_MAX}));
    runs.total = before;
  }
}

template <int ROUNDS>
static __device__ __forceinline__ void write_run_offsets(const GatherRunsArguments& arguments, int32_t tile,
                                                         const TileRuns<GATHER_THREADS * ROUNDS>& runs,
                                                         uint64_t before) {
  int32_t* offsets = reinterpret_cast<int32_t*>(arguments.output_offsets);
  const uint64_t capacity = arguments.capacity;
#pragma unroll
  for (int r = 0; r < ROUNDS; ++r) {
    const int32_t place = r * GATHER_THREADS + threadIdx.x;
    const int64_t row = static_cast<int64_t>(tile) * arguments.tile_rows + place;
    if (place < arguments.tile_rows && row < arguments.rows) {
      offsets[row] = static_cast<int32_t>(min(before + runs.start[place], capacity));
    }
  }
  if (tile == arguments.tiles - 1 && threadIdx.x == 0) {
    offsets[arguments.rows] = static_cast<int32_t>(min(before + runs.total, capacity));
  }
}

// The elements of a tile that are written: `count` of them, the first one at `output`.
struct TileOutput {
  uint8_t* output;
  int32_t count;
};

struct BytesOfStrings {
  static constexpr int SIZE = 1;

  // A thread owns CHUNK bytes at an aligned address; the first and the last chunk of a tile may be shared with others.
  template <int ROWS>
  static __device__ __forceinline__ void copy(const GatherRunsArguments& arguments, const TileRuns<ROWS>& runs,
                                              const TileOutput& tile) {
    const uint8_t* input = reinterpret_cast<const uint8_t*>(arguments.input_bytes);
    const int32_t lead = static_cast<int32_t>(reinterpret_cast<uint64_t>(tile.output) & (CHUNK - 1));
    for (int64_t chunk = static_cast<int64_t>(threadIdx.x) * CHUNK - lead; chunk < tile.count;
         chunk += GATHER_THREADS * CHUNK) {
      const int32_t begin = static_cast<int32_t>(max(chunk, int64_t{0}));
      const int32_t end = static_cast<int32_t>(min(chunk + CHUNK, static_cast<int64_t>(tile.count)));
      const ulonglong2 bytes = bytes_of_chunk(input, runs, static_cast<int32_t>(chunk), begin, end);
      store(tile.output + chunk, bytes, begin - static_cast<int32_t>(chunk), end - static_cast<int32_t>(chunk));
    }
  }

  // Bytes `begin` to `end` of the tile, at their places in the chunk.
  template <int ROWS>
  static __device__ __forceinline__ ulonglong2 bytes_of_chunk(const uint8_t* input, const TileRuns<ROWS>& runs,
                                                              int32_t chunk, int32_t begin, int32_t end) {
    ulonglong2 bytes = make_ulonglong2(0, 0);
    int32_t row = runs.place_of(begin);
    for (int32_t at = begin;;) {
      const int32_t in_word = (at - chunk) & 7;
      const int32_t end_of_run = static_cast<int32_t>(min(runs.start[row + 1], static_cast<uint32_t>(end)));
      const int32_t count = min(end_of_run - at, 8 - in_word);
      const int64_t from = static_cast<int64_t>(runs.source[row]) + (at - static_cast<int32_t>(runs.start[row]));
      const uint64_t piece = load_bytes<ConstantMemory>(input + from, count) << (8 * in_word);
      if (at - chunk < 8) {
        bytes.x |= piece;
      } else {
        bytes.y |= piece;
      }
      at += count;
      if (at == end) return bytes;
      if (at == end_of_run) row = runs.start[row + 2] > at ? row + 1 : runs.place_of(at);
    }
  }

  static __device__ __forceinline__ void store(uint8_t* address, const ulonglong2& bytes, int32_t begin, int32_t end) {
    if (end - begin == CHUNK) {
      *reinterpret_cast<ulonglong2*>(address) = bytes;
      return;
    }
    for (int32_t i = begin; i < end; ++i) {
      const uint64_t word = i < 8 ? bytes.x : bytes.y;
      address[i] = static_cast<uint8_t>(word >> (8 * (i & 7)));
    }
  }
};

struct NumbersOfElements {
  static constexpr int SIZE = 4;

  template <int ROWS>
  static __device__ __forceinline__ void copy(const GatherRunsArguments&, const TileRuns<ROWS>& runs,
                                              const TileOutput& tile) {
    int32_t* output = reinterpret_cast<int32_t*>(tile.output);
    for (uint32_t i = threadIdx.x; i < static_cast<uint32_t>(tile.count); i += GATHER_THREADS) {
      const int32_t place = runs.place_of(i);
      output[i] = runs.source[place] + static_cast<int32_t>(i - runs.start[place]);
    }
  }
};

template <typename Element, int ROUNDS>
static __device__ __forceinline__ void gather_runs(const GatherRunsArguments& arguments) {
  __shared__ TileRuns<GATHER_THREADS * ROUNDS> runs;
  const int32_t tile = arguments.stripes == 0 ? next_tile(arguments) : striped_tile(arguments);
  if (tile >= arguments.tiles) return;
  stage_runs<ROUNDS>(arguments, tile, runs);
  const uint64_t before = elements_before(arguments, tile, runs.total);
  write_run_offsets<ROUNDS>(arguments, tile, runs, before);
  const uint64_t capacity = arguments.capacity;
  if (before >= capacity) return;
  const int32_t count = static_cast<int32_t>(min(runs.total, capacity - before));
  Element::copy(arguments, runs, TileOutput{reinterpret_cast<uint8_t*>(arguments.output) + before * Element::SIZE, count});
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

// The elements of each tile and of each group of tiles.
extern "C" __global__ void __launch_bounds__(GATHER_THREADS)
    gather_run_sums(const __grid_constant__ GatherRunsArguments arguments) {
  const int32_t tile = striped_tile(arguments);
  if (tile >= arguments.tiles) return;
  Run run[GATHER_ROUNDS];
  uint64_t length = 0;
#pragma unroll
  for (int r = 0; r < GATHER_ROUNDS; ++r) run[r] = run_of_place(arguments, tile, r * GATHER_THREADS + threadIdx.x);
#pragma unroll
  for (int r = 0; r < GATHER_ROUNDS; ++r) length += run[r].length;
  const uint64_t sum = sum_of_block(length);
  if (threadIdx.x != GATHER_THREADS - 1) return;
  tile_sums(arguments)[tile] = sum;
  atomicAdd(reinterpret_cast<unsigned long long*>(group_sums(arguments) + tile / SUMS_GROUP), sum);
}

extern "C" __global__ void __launch_bounds__(GATHER_THREADS)
    gather_run_total(const __grid_constant__ GatherRunsArguments arguments) {
  uint64_t length = 0;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * GATHER_THREADS + threadIdx.x; row < arguments.rows;
       row += static_cast<int64_t>(gridDim.x) * GATHER_THREADS) {
    length += run_of(arguments, row).length;
  }
  const uint64_t sum = sum_of_block(length);
  if (threadIdx.x != GATHER_THREADS - 1) return;
  atomicAdd(reinterpret_cast<unsigned long long*>(arguments.scratch), sum);
}

#define MILLRACE_RUNS_KERNEL(name, Element, rounds)                              \
  extern "C" __global__ void __launch_bounds__(GATHER_THREADS)                   \
      name##_##rounds(const __grid_constant__ GatherRunsArguments arguments) {   \
    gather_runs<Element, rounds>(arguments);                                     \
  }

MILLRACE_RUNS_KERNEL(gather_strings, BytesOfStrings, 1)
MILLRACE_RUNS_KERNEL(gather_strings, BytesOfStrings, 4)
MILLRACE_RUNS_KERNEL(gather_list_elements, NumbersOfElements, 1)
MILLRACE_RUNS_KERNEL(gather_list_elements, NumbersOfElements, 4)
