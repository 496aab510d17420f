// SPDX-License-Identifier: Apache-2.0
// The rows of a group, sorted by their order in the batch, and the words of its key's state row that they are combined with.
#pragma once

#include "common/block.cuh"
#include "state_group.cuh"
#include "state_m2.cuh"

namespace millrace {

constexpr uint32_t NO_DIGIT = 0xffffffffu;  // of no row; as a group, of no group

// What is combined. A sum of floating-point numbers is a word of a state row: its bits, with the sign inverted, so that zero
// is -0.0, the identity. An M2 is three words.
struct FoldedValue {
  uint64_t data;
  uint64_t validity;
  int64_t row_offset;
  uint64_t output;  // the column of the result; 0: nothing is written
  int32_t stride;
  int32_t type;       // VALUE_INT8 to VALUE_INT64: the bits of a value; VALUE_STATE
  int32_t operation;  // an operation of values in the order of the rows
  int32_t word;       // of the state row: the first one of the value
  // Of values of two words:
  uint64_t second;         // of strings their offsets, or for VALUE_STATE uint64 per chunk of the words of long strings, its
                           // address; of timestamps the nanoseconds
  uint64_t second_output;  // the second word in the column of the result
  int32_t kind;            // VALUE_STRING, VALUE_DECIMAL or VALUE_TIMESTAMP
  int32_t string;          // how many values before it are strings
  uint64_t pieces;         // of OPERATION_WIDE_LIST: StringPiece per row, in the order of the sorted rows
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
  int32_t strings_of_key;  // values that are strings
  uint64_t counted;       // bit mask of the rows that are counted, as validity in KeyWord
  int64_t counted_offset; // of row 0 in the mask
  uint64_t strings;       // uint64 per chunk of the words of the long strings of values: its address
  uint64_t moves;         // StringMove for each string of each changed key
  FoldedValue value[MAX_ACCUMULATOR_WORDS];
};

static __device__ __forceinline__ uint32_t upto_lane() { return ALL_LANES >> (WARP - 1 - lane_of_thread()); }

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

// What a row adds to the number of rows of its key.
static __device__ __forceinline__ int32_t counted_by(const StateFoldArguments& arguments, uint32_t row) {
  if (arguments.counted != 0 && !bit_of(arguments.counted, arguments.counted_offset + row)) return 0;
  return is_retracted(arguments, row) ? -1 : 1;
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
    present += counted_by(arguments, row);
    if (present == 0) sum = Bits<Number>::to_number(Bits<Number>::SIGN);
  }
  return sum;
}

// The rows that a warp reads at once.
struct WarpRows {
  uint32_t row;        // of this lane
  uint32_t members;    // the lanes with a row of the group
  uint32_t retracted;  // the lanes whose rows are taken back
  uint32_t ends;       // the lanes behind whose rows the key has none
};

// The rows of a group from `first` on. `present` is the number of the key's rows before them, and becomes that behind them.
static __device__ __forceinline__ WarpRows rows_of_warp(const StateFoldArguments& arguments, const Segment& segment,
                                                        uint32_t first, int64_t& present) {
  const uint32_t at = first + lane_of_thread();
  const bool is_member = is_in(arguments, segment, at);
  WarpRows rows = {is_member ? row_at(arguments, at) : 0, __ballot_sync(ALL_LANES, is_member), 0, 0};
  if (arguments.row_kinds == 0) return rows;
  rows.retracted = __ballot_sync(ALL_LANES, is_member && is_retracted(arguments, rows.row));
  const int32_t counted = is_member ? counted_by(arguments, rows.row) : 0;
  const uint32_t added = __ballot_sync(ALL_LANES, counted > 0);
  const uint32_t removed = __ballot_sync(ALL_LANES, counted < 0);
  const int64_t after = present + __popc(added & upto_lane()) - __popc(removed & upto_lane());
  rows.ends = __ballot_sync(ALL_LANES, is_member && after == 0);
  present += __popc(added) - __popc(removed);
  return rows;
}

static __device__ __forceinline__ bool is_set(uint32_t lanes, int lane) { return (lanes >> lane & 1) != 0; }

// As sum_by_thread, of all lanes of a warp together: they read 32 values at once, and all lanes add them.
template <typename Number>
static __device__ Number sum_by_warp(const StateFoldArguments& arguments, const FoldedValue& value, const Segment& segment,
                                     Number sum, int64_t present) {
  const Number nothing = Bits<Number>::to_number(Bits<Number>::SIGN);
  WarpRows rows = {0, ALL_LANES, 0, 0};
  for (uint32_t first = segment.first; rows.members == ALL_LANES; first += WARP) {
    rows = rows_of_warp(arguments, segment, first, present);
    const bool is_member = is_set(rows.members, lane_of_thread());
    const Number own = is_member ? addend_of<Number>(arguments, value, rows.row) : nothing;
#pragma unroll
    for (int lane = 0; lane < WARP; ++lane) {
      sum += __shfl_sync(ALL_LANES, own, lane);
      if (is_set(rows.ends, lane)) sum = nothing;
    }
  }
  return sum;
}

static __device__ __forceinline__ M2 m2_at(const uint64_t* words) {
  return {Bits<double>::to_number(words[0]), Bits<double>::to_number(words[1]), static_cast<int64_t>(words[2])};
}

static __device__ __forceinline__ double number_of(const FoldedValue& value, uint32_t row) {
  return Bits<double>::to_number(element_of<uint64_t>(value.data + row * static_cast<int64_t>(value.stride), 0));
}

static __device__ __forceinline__ void combine_number(M2& m2, double number, bool is_retraction) {
  if (is_retraction) {
    take_back_number(m2, number);
  } else {
    add_number(m2, number);
  }
}

// As sum_by_thread; rows of another state have an M2 each.
static __device__ M2 m2_by_thread(const StateFoldArguments& arguments, const FoldedValue& value, const Segment& segment,
                                  M2 m2, int64_t present) {
  for (uint32_t at = segment.first; is_in(arguments, segment, at); ++at) {
    const uint32_t row = row_at(arguments, at);
    if (value.type == VALUE_STATE) {
      add_m2(m2, m2_at(reinterpret_cast<const uint64_t*>(value.data + row * static_cast<int64_t>(value.stride))));
      continue;
    }
    const bool is_retraction = is_retracted(arguments, row);
    if (!is_null_in(value, row)) combine_number(m2, number_of(value, row), is_retraction);
    if (arguments.row_kinds == 0) continue;
    present += counted_by(arguments, row);
    if (present == 0) m2 = {};
  }
  return m2;
}

// As sum_by_warp.
static __device__ M2 m2_by_warp(const StateFoldArguments& arguments, const FoldedValue& value, const Segment& segment,
                                M2 m2, int64_t present) {
  if (value.type == VALUE_STATE) return m2_by_thread(arguments, value, segment, m2, present);
  WarpRows rows = {0, ALL_LANES, 0, 0};
  for (uint32_t first = segment.first; rows.members == ALL_LANES; first += WARP) {
    rows = rows_of_warp(arguments, segment, first, present);
    const bool has_number = is_set(rows.members, lane_of_thread()) && !is_null_in(value, rows.row);
    const uint32_t numbers = __ballot_sync(ALL_LANES, has_number);
    const double own = has_number ? number_of(value, rows.row) : 0;
    for (int lane = 0; lane < WARP; ++lane) {
      const double number = __shfl_sync(ALL_LANES, own, lane);
      if (is_set(numbers, lane)) combine_number(m2, number, is_set(rows.retracted, lane));
      if (is_set(rows.ends, lane)) m2 = {};
    }
  }
  return m2;
}

// The number of the key's rows before the batch: the state has their number after it.
static __device__ int64_t present_before(const StateFoldArguments& arguments, const Segment& segment, const uint64_t* state) {
  if (arguments.row_kinds == 0) return 0;
  int64_t present = static_cast<int64_t>(state[arguments.row_count]);
  for (uint32_t at = segment.first; is_in(arguments, segment, at); ++at) {
    present -= counted_by(arguments, row_at(arguments, at));
  }
  return present;
}

// As present_before, of all lanes of a warp together.
static __device__ int64_t present_before_by_warp(const StateFoldArguments& arguments, const Segment& segment,
                                                 const uint64_t* state) {
  if (arguments.row_kinds == 0) return 0;
  int64_t counted = 0;
  for (uint32_t at = segment.first + lane_of_thread(); is_in(arguments, segment, at); at += WARP) {
    counted += counted_by(arguments, row_at(arguments, at));
  }
  for (int distance = WARP / 2; distance > 0; distance /= 2) {
    counted += __shfl_xor_sync(ALL_LANES, counted, distance);
  }
  return static_cast<int64_t>(state[arguments.row_count]) - counted;
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

// Writes the first word of a value to the state row and to the result, whose bits are `bits`; those of the word are the same
// but for `inverted`.
template <typename Number>
static __device__ __forceinline__ void put_folded(const StateFoldArguments& arguments, const FoldedValue& value,
                                                  const Segment& segment, uint64_t* state, uint64_t bits,
                                                  uint64_t inverted) {
  const uint64_t before = state[value.word];
  const uint64_t after = bits ^ inverted;
  state[value.word] = after;
  if (value.output == 0) return;
  const int64_t position = 2 * static_cast<int64_t>(element_of<uint32_t>(arguments.positions, segment.group));
  put_bits(value.output + (position + 1) * sizeof(Number), sizeof(Number), bits);
  if (before != after) mark_changed(arguments, position, state);
}

// A sum of floating-point numbers.
template <typename Number>
struct SumFold {
  static __device__ __forceinline__ Number read(const uint64_t* words) {
    return Bits<Number>::to_number(words[0] ^ Bits<Number>::SIGN);
  }
  static __device__ __forceinline__ Number by_thread(const StateFoldArguments& arguments, const FoldedValue& value,
                                                     const Segment& segment, Number sum, int64_t present) {
    return sum_by_thread(arguments, value, segment, sum, present);
  }
  static __device__ __forceinline__ Number by_warp(const StateFoldArguments& arguments, const FoldedValue& value,
                                                   const Segment& segment, Number sum, int64_t present) {
    return sum_by_warp(arguments, value, segment, sum, present);
  }
  static __device__ __forceinline__ void put(const StateFoldArguments& arguments, const FoldedValue& value,
                                             const Segment& segment, uint64_t* state, Number sum) {
    put_folded<Number>(arguments, value, segment, state, Bits<Number>::of(sum), Bits<Number>::SIGN);
  }
};

struct M2Fold {
  static __device__ __forceinline__ M2 read(const uint64_t* words) { return m2_at(words); }
  static __device__ __forceinline__ M2 by_thread(const StateFoldArguments& arguments, const FoldedValue& value,
                                                 const Segment& segment, const M2& m2, int64_t present) {
    return m2_by_thread(arguments, value, segment, m2, present);
  }
  static __device__ __forceinline__ M2 by_warp(const StateFoldArguments& arguments, const FoldedValue& value,
                                               const Segment& segment, const M2& m2, int64_t present) {
    return m2_by_warp(arguments, value, segment, m2, present);
  }
  static __device__ __forceinline__ void put(const StateFoldArguments& arguments, const FoldedValue& value,
                                             const Segment& segment, uint64_t* state, const M2& m2) {
    state[value.word + 1] = Bits<double>::of(m2.mean);
    state[value.word + 2] = static_cast<uint64_t>(m2.count);
    put_folded<double>(arguments, value, segment, state, Bits<double>::of(m2.sum), 0);
  }
};

// The first or the last value of a key.
struct OneValue {
  uint64_t bits;
  uint64_t is_set;
};

static __device__ __forceinline__ OneValue value_of_row(const FoldedValue& value, uint32_t row) {
  const uint64_t address = value.data + row * static_cast<int64_t>(value.stride);
  if (value.type == VALUE_STATE) return {element_of<uint64_t>(address, 0), element_of<uint64_t>(address, 1)};
  return {bits_at(address, width_of_value(value.type)), is_null_in(value, row) ? 0u : 1u};
}

// Rows that take others back have no value.
template <bool IS_FIRST>
struct OneValueFold {
  static __device__ __forceinline__ OneValue read(const uint64_t* words) { return {words[0], words[1]}; }
  static __device__ OneValue by_thread(const StateFoldArguments& arguments, const FoldedValue& value, const Segment& segment,
                                       OneValue one, int64_t) {
    for (uint32_t at = segment.first; is_in(arguments, segment, at) && !(IS_FIRST && one.is_set != 0); ++at) {
      const OneValue own = value_of_row(value, row_at(arguments, at));
      if (own.is_set != 0) one = own;
    }
    return one;
  }
  static __device__ OneValue by_warp(const StateFoldArguments& arguments, const FoldedValue& value, const Segment& segment,
                                     OneValue one, int64_t) {
    uint32_t members = ALL_LANES;
    for (uint32_t first = segment.first; members == ALL_LANES && !(IS_FIRST && one.is_set != 0); first += WARP) {
      const uint32_t at = first + lane_of_thread();
      const bool is_member = is_in(arguments, segment, at);
      members = __ballot_sync(ALL_LANES, is_member);
      const OneValue own = is_member ? value_of_row(value, row_at(arguments, at)) : OneValue{0, 0};
      const uint32_t set = __ballot_sync(ALL_LANES, own.is_set != 0);
      if (set == 0) continue;
      const int lane = IS_FIRST ? __ffs(set) - 1 : WARP - 1 - __clz(set);
      one = {__shfl_sync(ALL_LANES, own.bits, lane), 1};
    }
    return one;
  }
  static __device__ __forceinline__ void put(const StateFoldArguments& arguments, const FoldedValue& value,
                                             const Segment& segment, uint64_t* state, const OneValue& one) {
    state[value.word + 1] = one.is_set;
    const int32_t width = width_of_value(value.type);
    const uint64_t before = state[value.word];
    state[value.word] = one.bits;
    if (value.output == 0) return;
    const int64_t position = 2 * static_cast<int64_t>(element_of<uint32_t>(arguments.positions, segment.group));
    put_bits(value.output + (position + 1) * width, width, one.bits);
    if (before != one.bits) mark_changed(arguments, position, state);
  }
};

template <typename Fold>
static __device__ __forceinline__ void fold(const StateFoldArguments& arguments, const FoldedValue& value,
                                            const Segment& segment, bool is_long) {
  const uint32_t longs = __ballot_sync(ALL_LANES, is_long);
  if (segment.group != NO_DIGIT && !is_long) {
    uint64_t* state = reinterpret_cast<uint64_t*>(element_of<uint64_t>(arguments.claims, segment.group));
    const auto before = Fold::read(state + value.word);
    const int64_t present = present_before(arguments, segment, state);
    Fold::put(arguments, value, segment, state, Fold::by_thread(arguments, value, segment, before, present));
  }
  __syncwarp();
  for (uint32_t left = longs; left != 0; left &= left - 1) {
    const int lane = __ffs(left) - 1;
    const Segment shared = {__shfl_sync(ALL_LANES, segment.first, lane), __shfl_sync(ALL_LANES, segment.group, lane)};
    uint64_t* state = reinterpret_cast<uint64_t*>(element_of<uint64_t>(arguments.claims, shared.group));
    const auto before = Fold::read(state + value.word);
    const int64_t present = present_before_by_warp(arguments, shared, state);
    const auto after = Fold::by_warp(arguments, value, shared, before, present);
    __syncwarp();
    if (lane_of_thread() == 0) Fold::put(arguments, value, shared, state, after);
    __syncwarp();
  }
}

}  // namespace millrace
