// SPDX-License-Identifier: Apache-2.0
// Sums of floating-point numbers: in the order of the rows, so that they are those of a loop over the rows.
//
//   state_sort_count, state_sort_scan, state_sort_move
//                     one pass of a stable radix sort of the rows by group: the number of rows of each digit in each tile,
//                     where they go, and moving them
//   state_fold        adds the values of each group to the sum in the state row of its key, one after the other, and
//                     writes the sums after the update
//
// A warp sorts a tile, 32 rows at a time, so that rows of one digit keep their order.
//
// Bound: random reads of values and state rows; for a key with many rows, the latency of its additions.
//
// Launch shapes (Java repeats them): SORT_THREADS per block and a warp per tile; state_sort_scan one block of
// SORT_SCAN_THREADS; state_fold FOLD_THREADS per block and a thread per row.

#include "common/block.cuh"
#include "state_group.cuh"

namespace millrace {

constexpr int SORT_THREADS = 256;
constexpr int SORT_WARPS = SORT_THREADS / WARP;
constexpr int SORT_MAX_DIGITS = 256;
constexpr int SORT_SCAN_THREADS = 1024;
constexpr int SORT_SCAN_ITEMS = 8;
constexpr int FOLD_THREADS = 256;
constexpr uint32_t NO_DIGIT = 0xffffffffu;

struct StateSortArguments {
  uint64_t source_groups;  // uint32 per row; in the first pass its claim, a uint64
  uint64_t source_rows;    // uint32 per row: its number in the batch; 0 in the first pass, as they are in order
  uint64_t target_groups;
  uint64_t target_rows;
  uint64_t counts;         // uint32 per digit and tile
  int32_t rows;
  int32_t tile_rows;       // a multiple of 32
  int32_t tiles;
  int32_t shift;           // of the digit
  int32_t digits;          // a power of two
  int32_t count;           // of counts
};

// A sum of floating-point numbers in a state row: its bits, with the sign inverted, so that zero is -0.0, the identity.
struct FoldedValue {
  uint64_t data;
  uint64_t validity;
  int64_t row_offset;
  uint64_t output;  // the column of the result; 0: nothing is written
  int32_t stride;
  int32_t type;       // VALUE_INT32 or VALUE_INT64: the bits of a number; VALUE_STATE
  int32_t operation;  // OPERATION_ADD_FLOAT32 or OPERATION_ADD_FLOAT64
  int32_t word;       // of the state row
};

struct StateFoldArguments {
  uint64_t groups;     // uint32 per row, sorted
  uint64_t row_of;     // uint32 per row: its number in the batch
  uint64_t claims;     // uint64 per row; of a claimant the address of the state row
  uint64_t positions;  // uint32 per row: the number of the changed key, at its claimant's row
  uint64_t kinds;      // as in StateArguments
  uint64_t row_kinds;  // as in StateArguments
  int32_t rows;
  int32_t values;
  int32_t row_count;   // the word of a state row that counts rows; NO_ROW_COUNT: none does
  int32_t reserved;
  FoldedValue value[MAX_ACCUMULATOR_WORDS];
};

static __device__ __forceinline__ uint32_t upto_lane() { return ALL_LANES >> (WARP - 1 - lane_of_thread()); }

static __device__ __forceinline__ uint32_t digit_of(const StateSortArguments& arguments, uint32_t group) {
  return group >> arguments.shift & (arguments.digits - 1);
}

static __device__ __forceinline__ uint32_t group_at(const StateSortArguments& arguments, int64_t at) {
  if (arguments.source_rows != 0) return element_of<uint32_t>(arguments.source_groups, at);
  return claimant_of(element_of<uint64_t>(arguments.source_groups, at), static_cast<uint32_t>(at));
}

static __device__ __forceinline__ int32_t tile_of_warp() { return blockIdx.x * SORT_WARPS + warp_of_thread(); }

// The sum of floating-point numbers and its bits in the state.
template <typename Number>
struct Bits;

template <>
struct Bits<double> {
  static constexpr uint64_t SIGN = 0x8000000000000000ull;
  static constexpr uint64_t NOT_A_NUMBER = 0x7ff8000000000000ull;
  static __device__ __forceinline__ double to_number(uint64_t bits) {
    return __longlong_as_double(static_cast<long long>(bits));
  }
  static __device__ __forceinline__ uint64_t of(double number) {
    return number != number ? NOT_A_NUMBER : static_cast<uint64_t>(__double_as_longlong(number));
  }
};

template <>
struct Bits<float> {
  static constexpr uint64_t SIGN = 0x80000000u;
  static constexpr uint64_t NOT_A_NUMBER = 0x7fc00000u;
  static __device__ __forceinline__ float to_number(uint64_t bits) { return __uint_as_float(static_cast<uint32_t>(bits)); }
  static __device__ __forceinline__ uint64_t of(float number) {
    return number != number ? NOT_A_NUMBER : __float_as_uint(number);
  }
};

static __device__ __forceinline__ bool is_retracted(const StateFoldArguments& arguments, uint32_t row) {
  if (arguments.row_kinds == 0) return false;
  const int8_t kind = element_of<int8_t>(arguments.row_kinds, row);
  return kind == CHANGE_UPDATE_BEFORE || kind == CHANGE_DELETE;
}

// What a row adds: -0.0 for a null, which changes no sum.
template <typename Number>
static __device__ __forceinline__ Number addend_of(const StateFoldArguments& arguments, const FoldedValue& value,
                                                   uint32_t row) {
  if (is_null_in(value, row)) return Bits<Number>::to_number(Bits<Number>::SIGN);
  const uint64_t bits = bits_at(value.data + row * static_cast<int64_t>(value.stride), value.type == VALUE_INT32 ? 4 : 8);
  const bool inverts = value.type == VALUE_STATE || is_retracted(arguments, row);
  return Bits<Number>::to_number(inverts ? bits ^ Bits<Number>::SIGN : bits);
}

// The rows of one group among the sorted rows.
struct Segment {
  uint32_t first;
  uint32_t group;
};

static __device__ __forceinline__ bool is_in(const StateFoldArguments& arguments, const Segment& segment, uint32_t at) {
  return at < arguments.rows && element_of<uint32_t>(arguments.groups, at) == segment.group;
}

static __device__ __forceinline__ uint32_t row_at(const StateFoldArguments& arguments, uint32_t at) {
  return element_of<uint32_t>(arguments.row_of, at);
}

// The sum of a group with few rows. `present` is the number of the key's rows; a key without rows begins again.
template <typename Number>
static __device__ Number sum_by_thread(const StateFoldArguments& arguments, const FoldedValue& value,
                                       const Segment& segment, Number sum, int64_t present) {
  for (uint32_t at = segment.first; is_in(arguments, segment, at); ++at) {
    const uint32_t row = row_at(arguments, at);
    sum += addend_of<Number>(arguments, value, row);
    if (arguments.row_kinds == 0) continue;
    present += is_retracted(arguments, row) ? -1 : 1;
    if (present == 0) sum = Bits<Number>::to_number(Bits<Number>::SIGN);
  }
  return sum;
}

// As sum_by_thread, of all lanes of a warp together: they read 32 values at once, and all lanes add them.
template <typename Number>
static __device__ Number sum_by_warp(const StateFoldArguments& arguments, const FoldedValue& value, const Segment& segment,
                                     Number sum, int64_t present) {
  const Number nothing = Bits<Number>::to_number(Bits<Number>::SIGN);
  uint32_t members = ALL_LANES;
  for (uint32_t first = segment.first; members == ALL_LANES; first += WARP) {
    const uint32_t at = first + lane_of_thread();
    const bool is_member = is_in(arguments, segment, at);
    const uint32_t row = is_member ? row_at(arguments, at) : 0;
    members = __ballot_sync(ALL_LANES, is_member);
    const Number own = is_member ? addend_of<Number>(arguments, value, row) : nothing;
    uint32_t ends = 0;  // the lanes behind whose rows the key has none
    if (arguments.row_kinds != 0) {
      const uint32_t retracted = __ballot_sync(ALL_LANES, is_member && is_retracted(arguments, row));
      const int64_t after = present + __popc(members & upto_lane()) - 2 * __popc(retracted & upto_lane());
      ends = __ballot_sync(ALL_LANES, is_member && after == 0);
      present += __popc(members) - 2 * __popc(retracted);
    }
#pragma unroll
    for (int lane = 0; lane < WARP; ++lane) {
      sum += __shfl_sync(ALL_LANES, own, lane);
      if (ends >> lane & 1) sum = nothing;
    }
  }
  return sum;
}

// The number of the key's rows before the batch: the state has their number after it.
static __device__ int64_t present_before(const StateFoldArguments& arguments, const Segment& segment, const uint64_t* state) {
  if (arguments.row_kinds == 0) return 0;
  int64_t present = static_cast<int64_t>(state[arguments.row_count]);
  for (uint32_t at = segment.first; is_in(arguments, segment, at); ++at) {
    present += is_retracted(arguments, row_at(arguments, at)) ? 1 : -1;
  }
  return present;
}

// As present_before, of all lanes of a warp together.
static __device__ int64_t present_before_by_warp(const StateFoldArguments& arguments, const Segment& segment,
                                                 const uint64_t* state) {
  if (arguments.row_kinds == 0) return 0;
  int64_t taken_back = 0;
  for (uint32_t at = segment.first + lane_of_thread(); is_in(arguments, segment, at); at += WARP) {
    taken_back += is_retracted(arguments, row_at(arguments, at)) ? 1 : -1;
  }
  for (int distance = WARP / 2; distance > 0; distance /= 2) {
    taken_back += __shfl_xor_sync(ALL_LANES, taken_back, distance);
  }
  return static_cast<int64_t>(state[arguments.row_count]) + taken_back;
}

// The row of a key that was and is present has no kind yet if nothing else of it changed.
static __device__ __forceinline__ void mark_changed(const StateFoldArguments& arguments, int64_t position,
                                                    const uint64_t* state) {
  volatile ChangeKind* kinds = slot_of<volatile ChangeKind>(arguments.kinds, position);
  const bool is_present = arguments.row_count == NO_ROW_COUNT || state[arguments.row_count] != 0;
  if (!is_present || kinds[0] != CHANGE_NONE || kinds[1] != CHANGE_NONE) return;
  kinds[0] = CHANGE_UPDATE_BEFORE;
  kinds[1] = CHANGE_UPDATE_AFTER;
}

template <typename Number>
static __device__ __forceinline__ void put_sum(const StateFoldArguments& arguments, const FoldedValue& value,
                                               const Segment& segment, uint64_t* state, Number sum) {
  const uint64_t bits = Bits<Number>::of(sum);
  const uint64_t before = state[value.word];
  const uint64_t after = bits ^ Bits<Number>::SIGN;
  state[value.word] = after;
  if (value.output == 0) return;
  const int64_t position = 2 * static_cast<int64_t>(element_of<uint32_t>(arguments.positions, segment.group));
  put_bits(value.output + (position + 1) * sizeof(Number), sizeof(Number), bits);
  if (before != after) mark_changed(arguments, position, state);
}

template <typename Number>
static __device__ __forceinline__ void fold(const StateFoldArguments& arguments, const FoldedValue& value,
                                            const Segment& segment, bool is_long) {
  const uint32_t longs = __ballot_sync(ALL_LANES, is_long);
  if (segment.group != NO_DIGIT && !is_long) {
    uint64_t* state = reinterpret_cast<uint64_t*>(element_of<uint64_t>(arguments.claims, segment.group));
    const Number sum = Bits<Number>::to_number(state[value.word] ^ Bits<Number>::SIGN);
    const int64_t present = present_before(arguments, segment, state);
    put_sum(arguments, value, segment, state, sum_by_thread(arguments, value, segment, sum, present));
  }
  __syncwarp();
  for (uint32_t left = longs; left != 0; left &= left - 1) {
    const int lane = __ffs(left) - 1;
    const Segment shared = {__shfl_sync(ALL_LANES, segment.first, lane), __shfl_sync(ALL_LANES, segment.group, lane)};
    uint64_t* state = reinterpret_cast<uint64_t*>(element_of<uint64_t>(arguments.claims, shared.group));
    const Number before = Bits<Number>::to_number(state[value.word] ^ Bits<Number>::SIGN);
    const int64_t present = present_before_by_warp(arguments, shared, state);
    const Number sum = sum_by_warp(arguments, value, shared, before, present);
    __syncwarp();
    if (lane_of_thread() == 0) put_sum(arguments, value, shared, state, sum);
    __syncwarp();
  }
}

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
  __shared__ uint32_t total;
  uint32_t before_round = 0;
  for (int32_t round = 0; round < arguments.count; round += SORT_SCAN_THREADS * SORT_SCAN_ITEMS) {
    const int32_t first = round + static_cast<int32_t>(threadIdx.x) * SORT_SCAN_ITEMS;
    uint32_t counts[SORT_SCAN_ITEMS];
    uint32_t own = 0;
#pragma unroll
    for (int i = 0; i < SORT_SCAN_ITEMS; ++i) {
      counts[i] = first + i < arguments.count ? element_of<uint32_t>(arguments.counts, first + i) : 0;
      own += counts[i];
    }
    uint32_t before = exclusive_scan_of_block<SORT_SCAN_THREADS>(own, warp_sums);
    if (threadIdx.x == SORT_SCAN_THREADS - 1) total = before + own;
    __syncthreads();
    before += before_round;
    before_round += total;
#pragma unroll
    for (int i = 0; i < SORT_SCAN_ITEMS; ++i) {
      if (first + i < arguments.count) *slot_of<uint32_t>(arguments.counts, first + i) = before;
      before += counts[i];
    }
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(SORT_THREADS)
    state_sort_move(const __grid_constant__ StateSortArguments arguments) {
  __shared__ uint32_t targets_of_warps[SORT_WARPS][SORT_MAX_DIGITS];
  uint32_t* targets = targets_of_warps[warp_of_thread()];
  const int32_t tile = tile_of_warp();
  if (tile >= arguments.tiles) return;
  for (int digit = lane_of_thread(); digit < arguments.digits; digit += WARP) {
    targets[digit] = element_of<uint32_t>(arguments.counts, static_cast<int64_t>(digit) * arguments.tiles + tile);
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
    if (value.operation == OPERATION_ADD_FLOAT32) {
      fold<float>(arguments, value, segment, is_long);
    } else {
      fold<double>(arguments, value, segment, is_long);
    }
  }
}
