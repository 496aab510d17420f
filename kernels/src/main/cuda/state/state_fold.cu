// SPDX-License-Identifier: Apache-2.0
// Values that depend on the order of the rows, such as sums of floating-point numbers: as a loop over the rows gives them.
// And values of two words, such as the largest string, which no atomic can combine.
//
//   state_sort_count, state_sort_scan, state_sort_move
//                     one pass of a stable radix sort of the rows by group: the number of rows of each digit in each tile,
//                     where they go, and moving them
//   state_fold        combines the values of each group with the words in the state row of its key, one after the other,
//                     and writes the values after the update
//
// A warp sorts a tile, 32 rows at a time, so that rows of one digit keep their order.
//
// Bound: random reads of values and state rows; for a key with many rows, the latency of its additions.
//
// Launch shapes (Java repeats them): SORT_THREADS per block and a warp per tile; state_sort_scan a block of
// SORT_SCAN_THREADS per digit; state_fold FOLD_THREADS per block and a thread per row.

#include "state_fold.cuh"
#include "state_list.cuh"
#include "state_wide.cuh"

namespace millrace {

constexpr int SORT_THREADS = 256;
constexpr int SORT_WARPS = SORT_THREADS / WARP;
constexpr int SORT_MAX_DIGITS = 256;
constexpr int SORT_SCAN_THREADS = 256;
constexpr int SORT_SCAN_ITEMS = 4;  // 1024 tiles at most
constexpr int FOLD_THREADS = 256;

struct StateSortArguments {
  uint64_t source_groups;  // uint32 per row; in the first pass its claim, a uint64
  uint64_t source_rows;    // uint32 per row: its number in the batch; 0 in the first pass, as they are in order
  uint64_t target_groups;
  uint64_t target_rows;
  uint64_t counts;         // uint32 per digit and tile
  uint64_t totals;         // uint32 per digit: its rows in all tiles
  int32_t rows;
  int32_t tile_rows;       // a multiple of 32
  int32_t tiles;
  int32_t shift;           // of the digit
  int32_t digits;          // a power of two
  int32_t padding;
};

static __device__ __forceinline__ uint32_t digit_of(const StateSortArguments& arguments, uint32_t group) {
  return group >> arguments.shift & (arguments.digits - 1);
}

static __device__ __forceinline__ uint32_t group_at(const StateSortArguments& arguments, int64_t at) {
  if (arguments.source_rows != 0) return element_of<uint32_t>(arguments.source_groups, at);
  return claimant_of(element_of<uint64_t>(arguments.source_groups, at), static_cast<uint32_t>(at));
}

static __device__ __forceinline__ int32_t tile_of_warp() { return blockIdx.x * SORT_WARPS + warp_of_thread(); }

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(StateSortArguments);
MILLRACE_REPORT_SIZE(StateFoldArguments);

extern "C" __global__ void __launch_bounds__(SORT_THREADS)
    state_sort_count(const __grid_constant__ StateSortArguments arguments) {
  __shared__ uint32_t counts_of_warps[SORT_WARPS][SORT_MAX_DIGITS];
  uint32_t* counts = counts_of_warps[warp_of_thread()];
  const int32_t tile = tile_of_warp();
  if (tile >= arguments.tiles) return;
  for (int digit = lane_of_thread(); digit < arguments.digits; digit += WARP) counts[digit] = 0;
  __syncwarp();
  const int64_t first = static_cast<int64_t>(tile) * arguments.tile_rows;
  const int64_t end = min(first + arguments.tile_rows, static_cast<int64_t>(arguments.rows));
  for (int64_t at = first + lane_of_thread(); at < end; at += WARP) {
    atomicAdd(counts + digit_of(arguments, group_at(arguments, at)), 1u);
  }
  __syncwarp();
  for (int digit = lane_of_thread(); digit < arguments.digits; digit += WARP) {
    *slot_of<uint32_t>(arguments.counts, static_cast<int64_t>(digit) * arguments.tiles + tile) = counts[digit];
  }
}

extern "C" __global__ void __launch_bounds__(SORT_SCAN_THREADS)
    state_sort_scan(const __grid_constant__ StateSortArguments arguments) {
  __shared__ uint32_t warp_sums[WARP];
  uint32_t* counts = slot_of<uint32_t>(arguments.counts, static_cast<int64_t>(blockIdx.x) * arguments.tiles);
  const int32_t first = static_cast<int32_t>(threadIdx.x) * SORT_SCAN_ITEMS;
  uint32_t own[SORT_SCAN_ITEMS];
  uint32_t sum = 0;
#pragma unroll
  for (int i = 0; i < SORT_SCAN_ITEMS; ++i) {
    own[i] = first + i < arguments.tiles ? counts[first + i] : 0;
    sum += own[i];
  }
  uint32_t before = exclusive_scan_of_block<SORT_SCAN_THREADS>(sum, warp_sums);
  if (threadIdx.x == SORT_SCAN_THREADS - 1) *slot_of<uint32_t>(arguments.totals, blockIdx.x) = before + sum;
#pragma unroll
  for (int i = 0; i < SORT_SCAN_ITEMS; ++i) {
    if (first + i < arguments.tiles) counts[first + i] = before;
    before += own[i];
  }
}

extern "C" __global__ void __launch_bounds__(SORT_THREADS)
    state_sort_move(const __grid_constant__ StateSortArguments arguments) {
  __shared__ uint32_t warp_sums[WARP];
  __shared__ uint32_t first_of_digit[SORT_MAX_DIGITS];
  __shared__ uint32_t targets_of_warps[SORT_WARPS][SORT_MAX_DIGITS];
  uint32_t* targets = targets_of_warps[warp_of_thread()];
  const int32_t own_digit = static_cast<int32_t>(threadIdx.x);
  const uint32_t total = own_digit < arguments.digits ? element_of<uint32_t>(arguments.totals, own_digit) : 0;
  first_of_digit[own_digit] = exclusive_scan_of_block<SORT_THREADS>(total, warp_sums);
  __syncthreads();
  const int32_t tile = tile_of_warp();
  if (tile >= arguments.tiles) return;
  for (int digit = lane_of_thread(); digit < arguments.digits; digit += WARP) {
    const int64_t count = static_cast<int64_t>(digit) * arguments.tiles + tile;
    targets[digit] = first_of_digit[digit] + element_of<uint32_t>(arguments.counts, count);
  }
  __syncwarp();
  const int64_t first = static_cast<int64_t>(tile) * arguments.tile_rows;
  const int64_t end = min(first + arguments.tile_rows, static_cast<int64_t>(arguments.rows));
  // All lanes of the warp make the same number of rounds.
  for (int64_t round = first; round < end; round += WARP) {
    const int64_t at = round + lane_of_thread();
    const bool is_row = at < end;
    const uint32_t group = is_row ? group_at(arguments, at) : 0;
    const uint32_t digit = is_row ? digit_of(arguments, group) : NO_DIGIT;
    const uint32_t peers = __match_any_sync(ALL_LANES, digit);
    const uint32_t target = is_row ? targets[digit] + __popc(peers & upto_lane()) - 1 : 0;
    __syncwarp();
    if (is_row) {
      const uint32_t row =
          arguments.source_rows == 0 ? static_cast<uint32_t>(at) : element_of<uint32_t>(arguments.source_rows, at);
      *slot_of<uint32_t>(arguments.target_groups, target) = group;
      *slot_of<uint32_t>(arguments.target_rows, target) = row;
      if (__ffs(peers) - 1 == lane_of_thread()) targets[digit] += __popc(peers);
    }
    __syncwarp();
  }
}

extern "C" __global__ void __launch_bounds__(FOLD_THREADS)
    state_fold(const __grid_constant__ StateFoldArguments arguments) {
  const uint32_t at = blockIdx.x * FOLD_THREADS + threadIdx.x;
  Segment segment = {at, NO_DIGIT};
  bool is_long = false;
  if (at < arguments.rows) {
    const uint32_t group = element_of<uint32_t>(arguments.groups, at);
    if (at == 0 || element_of<uint32_t>(arguments.groups, at - 1) != group) segment.group = group;
    is_long = segment.group != NO_DIGIT && is_in(arguments, segment, at + WARP);
  }
  for (int i = 0; i < arguments.values; ++i) {
    const FoldedValue& value = arguments.value[i];
    switch (value.operation) {
      case OPERATION_ADD_FLOAT32: fold<SumFold<float>>(arguments, value, segment, is_long); break;
      case OPERATION_ADD_FLOAT64: fold<SumFold<double>>(arguments, value, segment, is_long); break;
      case OPERATION_FIRST: fold<OneValueFold<true>>(arguments, value, segment, is_long); break;
      case OPERATION_LAST: fold<OneValueFold<false>>(arguments, value, segment, is_long); break;
      case OPERATION_WIDE_MIN:
      case OPERATION_WIDE_MAX:
      case OPERATION_WIDE_FIRST:
      case OPERATION_WIDE_LAST: fold<WideFold>(arguments, value, segment, is_long); break;
      case OPERATION_WIDE_LIST: fold<ListFold>(arguments, value, segment, is_long); break;
      default: fold<M2Fold>(arguments, value, segment, is_long);
    }
  }
}
