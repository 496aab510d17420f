// SPDX-License-Identifier: Apache-2.0
// A batch against keyed state: two launches.
//
//   state_group   groups the rows of the batch by key in a hash table of its own, and accumulates the values of each key
//   state_update  finds or adds the row of each distinct key in the state, combines it with the accumulated values, and
//                 writes the values before and after, as a changelog
//   state_index   moves the entries of an index to a larger one
//
// Nothing depends on the order in which threads run: operations are associative and commutative, a key is known by its
// first row in the batch, changed keys are numbered in the order of their first rows, and new keys get the next rows of
// the state in that order. Only the slots of the index differ between runs; they are never written to a checkpoint.
//
// Bound: latency for micro-batches; with many keys, the random reads of the index and of the state rows (a sector each).
//
// Launch shapes (Java repeats them): STATE_THREADS per block; state_group and state_index with any number of blocks,
// state_group with 8 bytes of shared memory per thread and word of the accumulators; state_update with `tiles` blocks, one row per
// thread (eight took 1.6 times as long for 1 Mi rows with 1 M keys on an H200: what counts is the number of random reads
// in flight).

#include "common/block.cuh"
#include "common/look_back.cuh"
#include "state_row.cuh"

namespace millrace {

constexpr int STATE_THREADS = 256;
constexpr int STATE_WARPS = STATE_THREADS / WARP;
constexpr uint32_t PENDING = 0xffffffffu;  // the row of an index entry that this launch adds
constexpr int NEW_KEYS_SHIFT = 31;         // of the two counts in a word of the look-back
constexpr uint64_t CHANGED_KEYS = (uint64_t{1} << NEW_KEYS_SHIFT) - 1;

template <typename Value>
static __device__ __forceinline__ Value* slot_of(uint64_t address, int64_t index) {
  return reinterpret_cast<Value*>(address) + index;
}

static __device__ __forceinline__ uint64_t* partials_of_group(const StateArguments& arguments, uint32_t slot) {
  return slot_of<uint64_t>(arguments.partials, static_cast<int64_t>(slot) * arguments.partial_words);
}

// The slot of a key in the batch's hash table. A slot holds some row of its key, in the end the first.
static __device__ __forceinline__ uint32_t group_of_key(const StateArguments& arguments, uint32_t row, uint32_t hash) {
  const uint32_t mark = row + 1;
  for (uint32_t slot = hash & arguments.group_mask;; slot = (slot + 1) & arguments.group_mask) {
    uint32_t* group = slot_of<uint32_t>(arguments.groups, slot);
    uint32_t found = *reinterpret_cast<volatile uint32_t*>(group);
    if (found == 0) {
      found = atomicCAS(group, 0u, mark);
      if (found == 0) return slot;
    }
    if (equal_keys(arguments, row, found - 1)) {
      if (mark < found) atomicMin(group, mark);
      return slot;
    }
  }
}

constexpr uint32_t NO_SLOT = 0xffffffffu;

// The slots of a warp's rows, NO_SLOT behind the last row. Of the lanes with one key only the first touches the hash table.
static __device__ __forceinline__ uint32_t group_of_row(const StateArguments& arguments, uint32_t row) {
  const bool is_row = row < arguments.rows;
  const uint32_t hash = is_row ? hash_of_key(arguments, row) : 0;
  // Lanes behind the last row are no peers of others.
  const uint32_t rows = __ballot_sync(ALL_LANES, is_row);
  const uint32_t peers = __match_any_sync(ALL_LANES, hash) & (is_row ? rows : ~rows);
  const int first_lane = __ffs(peers) - 1;
  const uint32_t first_row = row - lane_of_thread() + first_lane;
  const bool follows = is_row && first_lane != lane_of_thread() && equal_keys(arguments, row, first_row);
  uint32_t slot = NO_SLOT;
  if (is_row && !follows) slot = group_of_key(arguments, row, hash);
  __syncwarp();
  const uint32_t slot_of_first = __shfl_sync(ALL_LANES, slot, first_lane);
  return follows ? slot_of_first : slot;
}

// Adds to a word of a sum. Returns the carry out of it; the number of carries of a word does not depend on the order.
static __device__ __forceinline__ uint64_t add_atomically(uint64_t* word, uint64_t addend, uint64_t carry) {
  const uint64_t both = addend + carry;
  if (both == 0) return carry;
  const uint64_t before = atomicAdd(reinterpret_cast<unsigned long long*>(word), both);
  return before + both < before;
}

static __device__ __forceinline__ void combine_atomically(int32_t operation, uint64_t* target,
                                                          const AccumulatorWords& accumulator) {
  if (operation == OPERATION_MIN || operation == OPERATION_MAX) {
    atomicMax(reinterpret_cast<unsigned long long*>(target), accumulator.low);
    return;
  }
  const int words = words_of(operation);
  uint64_t carry = add_atomically(target, accumulator.low, 0);
  if (words > 1) carry = add_atomically(target + 1, accumulator.middle, carry);
  if (words > 2) add_atomically(target + 2, accumulator.high, carry);
}

constexpr int HOT_LANES = 4;  // a key of fewer lanes is not worth a reduction

// A key that many rows of a warp have. Its rows are accumulated per thread, in shared memory, and once per warp in the
// hash table: atomics on one address take turns.
struct HotKey {
  uint32_t slot;  // the same in all lanes
  uint64_t* own;  // this thread's first word of the accumulators; a block's threads apart for each further one
};

static __device__ __forceinline__ void choose_hot_key(const StateArguments& arguments, HotKey& hot, uint32_t slot) {
  if (hot.slot != NO_SLOT) return;
  const uint32_t peers = __match_any_sync(ALL_LANES, slot);
  const uint32_t candidates = __ballot_sync(ALL_LANES, slot != NO_SLOT && __popc(peers) >= HOT_LANES);
  if (candidates == 0) return;
  hot.slot = __shfl_sync(ALL_LANES, slot, __ffs(candidates) - 1);
  for (int w = 0; w < arguments.accumulator_words; ++w) hot.own[w * STATE_THREADS] = 0;
}

static __device__ __forceinline__ void accumulate(const StateArguments& arguments, uint32_t row, uint32_t slot,
                                                  const HotKey& hot) {
  const bool retracts = is_retraction(arguments, row);
  uint64_t* partials = partials_of_group(arguments, slot);
  int words = 0;
  for (int a = 0, word = 0; a < arguments.accumulators; ++a, word += words) {
    const AccumulatedValue& value = arguments.value[a];
    words = words_of(value.operation);
    if (is_null_in(value, row)) continue;
    const AccumulatorWords accumulator = accumulator_of(value, row, retracts);
    if (slot == hot.slot) {
      uint64_t* own = hot.own + word * STATE_THREADS;
      const AccumulatorWords before = words_at(own, words, STATE_THREADS);
      put_words(own, words, STATE_THREADS, combine_accumulators(value.operation, before, accumulator));
    } else {
      combine_atomically(value.operation, partials + word, accumulator);
    }
  }
}

// The accumulator of the lane at a distance. Every lane calls it.
static __device__ __forceinline__ AccumulatorWords words_of_lane(const AccumulatorWords& own, int words, int distance) {
  return {__shfl_xor_sync(ALL_LANES, own.low, distance),
          words > 1 ? __shfl_xor_sync(ALL_LANES, own.middle, distance) : 0,
          words > 2 ? __shfl_xor_sync(ALL_LANES, own.high, distance) : 0};
}

// Adds the hot keys of the block's warps to the hash table; warps with the same key together. Every thread calls it.
static __device__ __forceinline__ void accumulate_hot_keys(const StateArguments& arguments, const HotKey& hot) {
  __shared__ uint32_t slots[STATE_WARPS];
  uint64_t* partials = hot.own - threadIdx.x;
  int words = 0;
  for (int a = 0, word = 0; a < arguments.accumulators && hot.slot != NO_SLOT; ++a, word += words) {
    const int32_t operation = arguments.value[a].operation;
    words = words_of(operation);
    uint64_t* own = hot.own + word * STATE_THREADS;
    AccumulatorWords accumulator = words_at(own, words, STATE_THREADS);
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
      const AccumulatorWords other = words_of_lane(accumulator, words, distance);
      accumulator = combine_accumulators(operation, accumulator, other);
    }
    if (lane_of_thread() == 0) put_words(own, words, STATE_THREADS, accumulator);
  }
  if (lane_of_thread() == 0) slots[warp_of_thread()] = hot.slot;
  __syncthreads();
  if (lane_of_thread() != 0 || hot.slot == NO_SLOT) return;
  for (int warp = 0; warp < warp_of_thread(); ++warp) {
    if (slots[warp] == hot.slot) return;
  }
  for (int a = 0, word = 0; a < arguments.accumulators; ++a, word += words) {
    const int32_t operation = arguments.value[a].operation;
    words = words_of(operation);
    AccumulatorWords accumulator = {0, 0, 0};
    for (int warp = warp_of_thread(); warp < STATE_WARPS; ++warp) {
      if (slots[warp] != hot.slot) continue;
      const AccumulatorWords other = words_at(partials + word * STATE_THREADS + warp * WARP, words, STATE_THREADS);
      accumulator = combine_accumulators(operation, accumulator, other);
    }
    if (are_equal(accumulator, {0, 0, 0}, words)) continue;
    combine_atomically(operation, partials_of_group(arguments, hot.slot) + word, accumulator);
  }
}

struct StateRow {
  int64_t entry;  // its slot of the index
  int64_t row;    // only of a key that was there before
  bool is_new;
};

// Keys of one launch are distinct, so an entry that this launch adds is never the wanted one; its row is not written yet.
static __device__ __forceinline__ StateRow find_or_claim(const StateArguments& arguments, uint32_t row, uint32_t hash) {
  for (int64_t at = hash & arguments.index_mask;; at = (at + 1) & arguments.index_mask) {
    unsigned long long* entry = slot_of<unsigned long long>(arguments.index, at);
    unsigned long long found = *reinterpret_cast<volatile unsigned long long*>(entry);
    if (found == 0) {
      found = atomicCAS(entry, 0ull, static_cast<unsigned long long>(hash) << 32 | PENDING);
      if (found == 0) return {at, 0, true};
    }
    const uint32_t mark = static_cast<uint32_t>(found);
    const bool was_there = mark != PENDING && mark - 1 < arguments.state_rows;
    if (was_there && static_cast<uint32_t>(found >> 32) == hash &&
        is_key_of(arguments, row, state_row(arguments, mark - 1))) {
      return {at, static_cast<int64_t>(mark) - 1, false};
    }
  }
}

// Writes the key as it is in the batch, to both rows of the result.
static __device__ __forceinline__ void put_output_key(const StateArguments& arguments, uint32_t row, int64_t position) {
  for (int w = 0; w < arguments.key_words; ++w) {
    const KeyWord& word = arguments.key[w];
    const uint64_t bits = bits_at(word.data + row * word.stride, word.width);
    put_bits(word.output + position * word.stride, word.width, bits);
    put_bits(word.output + (position + 1) * word.stride, word.width, bits);
    if (word.output_validity != 0 && !is_null_in(word, row)) {
      atomicOr(slot_of<uint32_t>(word.output_validity, position >> 5), 3u << (position & 31));
    }
  }
}

static __device__ __forceinline__ void put_output_value(const AccumulatedValue& value, int64_t position,
                                                        const AccumulatorWords& accumulator) {
  const bool is_valid = put_result(value, position, accumulator);
  if (value.output_validity != 0 && is_valid) {
    atomicOr(slot_of<uint32_t>(value.output_validity, position >> 5), 1u << (position & 31));
  }
}

static __device__ __forceinline__ void put_kinds(const StateArguments& arguments, int64_t position, bool was_present,
                                                 bool is_present, bool is_changed) {
  ChangeKind before = CHANGE_NONE;
  ChangeKind after = CHANGE_NONE;
  if (was_present && !is_present) before = CHANGE_DELETE;
  if (!was_present && is_present) after = CHANGE_INSERT;
  if (was_present && is_present && is_changed) {
    before = CHANGE_UPDATE_BEFORE;
    after = CHANGE_UPDATE_AFTER;
  }
  ChangeKind* kinds = slot_of<ChangeKind>(arguments.kinds, position);
  kinds[0] = before;
  kinds[1] = after;
}

static __device__ __forceinline__ void update_row(const StateArguments& arguments, uint32_t row, uint32_t slot,
                                                  const StateRow& found, int64_t position) {
  uint64_t* partials = partials_of_group(arguments, slot);
  uint64_t* state = state_row(arguments, found.row);
  if (found.is_new) put_key(arguments, row, state);
  uint64_t* accumulators = state + arguments.first_accumulator;
  const bool has_result = arguments.kinds != 0;
  bool was_present = !found.is_new;
  bool is_present = true;
  bool is_changed = false;
  const AccumulatorWords zeros = {0, 0, 0};
  int words = 0;
  for (int a = 0; a < arguments.accumulators; ++a, partials += words, accumulators += words) {
    const AccumulatedValue& value = arguments.value[a];
    words = words_of(value.operation);
    const AccumulatorWords before = found.is_new ? zeros : words_at(accumulators, words, 1);
    const AccumulatorWords after = combine_accumulators(value.operation, before, words_at(partials, words, 1));
    put_words(partials, words, 1, zeros);
    put_words(accumulators, words, 1, after);
    is_changed |= !are_equal(before, after, words);
    if (a == arguments.row_count) {
      was_present = before.low != 0;
      is_present = after.low != 0;
    }
    if (has_result) {
      put_output_value(value, position, before);
      put_output_value(value, position + 1, after);
    }
  }
  // Other rows of the key only compare this word with their own number.
  *slot_of<volatile uint32_t>(arguments.groups, slot) = 0;
  if (has_result) {
    put_output_key(arguments, row, position);
    put_kinds(arguments, position, was_present, is_present, is_changed);
  }
}

// Counts of this block's threads and of all blocks before, as in the look-back: changed keys, and new keys above.
static __device__ __forceinline__ uint64_t counts_before(const StateArguments& arguments, int32_t tile, uint64_t own) {
  __shared__ uint64_t warp_sums[WARP];
  __shared__ uint64_t before_block;
  __shared__ uint64_t total;
  const uint64_t before = exclusive_scan_of_block<STATE_THREADS>(own, warp_sums);
  if (threadIdx.x == STATE_THREADS - 1) total = before + own;
  __syncthreads();
  if (threadIdx.x < WARP) {
    const uint64_t sum = sum_before_tile(slot_of<uint64_t>(arguments.look_back, 0), tile, total);
    if (threadIdx.x == 0) {
      before_block = sum;
      if (tile == arguments.tiles - 1) {
        const uint64_t all = sum + total;
        *slot_of<volatile uint32_t>(arguments.counts, 0) = static_cast<uint32_t>(all & CHANGED_KEYS);
        *slot_of<volatile uint32_t>(arguments.counts, 1) = static_cast<uint32_t>(all >> NEW_KEYS_SHIFT);
      }
    }
  }
  __syncthreads();
  return before + before_block;
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(StateArguments);
MILLRACE_REPORT_SIZE(StateIndexArguments);

extern "C" __global__ void __launch_bounds__(STATE_THREADS) state_group(const __grid_constant__ StateArguments arguments) {
  extern __shared__ uint64_t partials_of_threads[];
  const uint32_t thread = blockIdx.x * STATE_THREADS + threadIdx.x;
  const uint32_t threads = gridDim.x * STATE_THREADS;
  for (uint32_t tile = thread; tile < arguments.tiles; tile += threads) *slot_of<uint64_t>(arguments.look_back, tile) = 0;
  if (thread == 0) *slot_of<uint32_t>(arguments.next_tile, 0) = 0;
  HotKey hot = {NO_SLOT, partials_of_threads + threadIdx.x};
  // All lanes of a warp make the same number of rounds.
  for (uint32_t first = thread - lane_of_thread(); first < arguments.rows; first += threads) {
    const uint32_t row = first + lane_of_thread();
    const uint32_t slot = group_of_row(arguments, row);
    if (slot != NO_SLOT) *slot_of<uint32_t>(arguments.group_of, row) = slot;
    choose_hot_key(arguments, hot, slot);
    if (slot != NO_SLOT) accumulate(arguments, row, slot, hot);
    __syncwarp();
  }
  accumulate_hot_keys(arguments, hot);
}

extern "C" __global__ void __launch_bounds__(STATE_THREADS) state_update(const __grid_constant__ StateArguments arguments) {
  __shared__ int32_t tile_of_block;
  if (threadIdx.x == 0) tile_of_block = atomicAdd(slot_of<int32_t>(arguments.next_tile, 0), 1);
  __syncthreads();
  const int32_t tile = tile_of_block;
  const uint32_t row = static_cast<uint32_t>(tile) * STATE_THREADS + threadIdx.x;
  uint32_t slot = 0;
  bool is_first = false;
  if (row < arguments.rows) {
    slot = element_of<uint32_t>(arguments.group_of, row);
    is_first = *slot_of<volatile uint32_t>(arguments.groups, slot) == row + 1;
  }
  uint32_t hash = 0;
  StateRow found = {0, 0, false};
  if (is_first) {
    hash = hash_of_key(arguments, row);
    found = find_or_claim(arguments, row, hash);
  }
  const uint64_t own = (is_first ? 1 : 0) | (found.is_new ? uint64_t{1} << NEW_KEYS_SHIFT : 0);
  const uint64_t before = counts_before(arguments, tile, own);
  if (!is_first) return;
  if (found.is_new) {
    found.row = arguments.state_rows + static_cast<int64_t>(before >> NEW_KEYS_SHIFT);
    *slot_of<uint64_t>(arguments.index, found.entry) =
        static_cast<uint64_t>(hash) << 32 | static_cast<uint32_t>(found.row + 1);
  }
  update_row(arguments, row, slot, found, 2 * static_cast<int64_t>(before & CHANGED_KEYS));
}

extern "C" __global__ void __launch_bounds__(STATE_THREADS)
    state_index(const __grid_constant__ StateIndexArguments arguments) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * STATE_THREADS;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(STATE_THREADS) + threadIdx.x; i < arguments.source_slots; i += stride) {
    const unsigned long long entry = element_of<unsigned long long>(arguments.source, i);
    if (entry == 0) continue;
    int64_t at = static_cast<int64_t>(entry >> 32) & arguments.target_mask;
    while (atomicCAS(slot_of<unsigned long long>(arguments.target, at), 0ull, entry) != 0) {
      at = (at + 1) & arguments.target_mask;
    }
  }
}
