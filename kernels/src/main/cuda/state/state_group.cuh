// SPDX-License-Identifier: Apache-2.0
// The rows of a batch by key: their groups, and what is accumulated over the rows of a group behind its claimant.
#pragma once

#include "common/block.cuh"
#include "state_slots.cuh"

namespace millrace {

constexpr int STATE_THREADS = 256;
constexpr int STATE_WARPS = STATE_THREADS / WARP;
constexpr uint32_t PENDING = 0xffffffffu;  // the row of an index entry that this batch adds
constexpr uint32_t NO_GROUP = 0xffffffffu;

constexpr uint32_t PARTIAL_SPREAD = 64;
constexpr uint32_t PARTIAL_PAGE = PARTIAL_SPREAD * PARTIAL_SPREAD;

// In large batches neighbouring groups lie apart, within a page: claimants of few keys are neighbours, and atomics on one
// line of the cache take turns.
static __device__ __forceinline__ uint64_t* partials_of_group(const StateArguments& arguments, uint32_t group) {
  const uint32_t in_page = group % PARTIAL_SPREAD * PARTIAL_SPREAD + group / PARTIAL_SPREAD % PARTIAL_SPREAD;
  const bool is_spread = arguments.rows >= PARTIAL_PAGE;
  const int64_t place = is_spread ? group / PARTIAL_PAGE * PARTIAL_PAGE + in_page : group;
  const int64_t words = arguments.row_words - arguments.partial_base;
  return slot_of<uint64_t>(arguments.partials, place * words);
}


// Whoever claims a slot reads the index next: `index` is read while the claim is on its way.
static __device__ __forceinline__ Slot group_slot(const StateArguments& arguments, uint32_t row, uint32_t hash,
                                                  BucketPair& index) {
  return find_or_claim(
      arguments.groups, arguments.group_mask, entry_of(hash, row + 1),
      [&](uint32_t mark) { return equal_keys(arguments, row, mark - 1); },
      [&] { index = BucketPair::of_hash(arguments.index, arguments.index_buckets, hash); });
}

static __device__ __forceinline__ bool is_staged(const StateArguments& arguments, uint32_t state_number) {
  if (arguments.host_chunks == 0) return false;
  const uint32_t chunk = state_number >> arguments.chunk_shift;
  return (element_of<uint32_t>(arguments.host_chunks, chunk >> 5) >> (chunk & 31) & 1) != 0;
}

// The slot of a key, which it gets now if the index lacks it. Keys of one batch are distinct here, so an entry that this launch
// adds is never the wanted one. `is_taken` says of a row that has the key's hash whether it is taken for the key's.
template <typename IsTaken>
static __device__ __forceinline__ Slot index_slot(const StateArguments& arguments, uint32_t hash, BucketPair& pair,
                                                  IsTaken is_taken) {
  const Slot slot = find_in_index(arguments.index, arguments.index_buckets, hash, pair,
                                  [&](uint32_t mark) { return mark != PENDING && is_taken(mark - 1); });
  if (slot.entry != 0) return slot;
  return claim_in_index(arguments.index, arguments.index_buckets, entry_of(hash, PENDING), pair);
}

// Tells that this batch writes to the page of a state row. Usually an earlier thread has told it: reading is cheap.
static __device__ __forceinline__ void mark_page(const StateArguments& arguments, int64_t state_number) {
  uint64_t* epoch = slot_of<uint64_t>(arguments.page_epochs, state_number >> (arguments.chunk_shift - PAGES_SHIFT));
  if (*epoch != arguments.epoch) *epoch = arguments.epoch;
}

static __device__ __forceinline__ uint64_t claim_of_slot(const StateArguments& arguments, const Slot& slot) {
  if (slot.is_claimed) return NEW_KEY | slot.at;
  const uint32_t state_number = mark_of(slot.entry) - 1;
  mark_page(arguments, state_number);
  return reinterpret_cast<uint64_t>(state_row(arguments, state_number));
}

// The claim of the first row of a key in the batch's hash table. The search begins with `pair`.
static __device__ __forceinline__ uint64_t claim_of_claimant(const StateArguments& arguments, uint32_t row, uint32_t hash,
                                                             BucketPair& pair) {
  // A row that is staged is taken for the key's: state_fetch compares it.
  const Slot index = index_slot(arguments, hash, pair, [&](uint32_t state_number) {
    return is_staged(arguments, state_number) || is_key_of(arguments, row, state_row(arguments, state_number));
  });
  if (!index.is_claimed && is_staged(arguments, mark_of(index.entry) - 1)) return STAGED | index.at;
  return claim_of_slot(arguments, index);
}

// The claims of rows whose keys are looked up. Every lane of a warp calls it. Between the two tables the lanes wait for each
// other, so that their reads of state rows are on their way together.
static __device__ __forceinline__ uint64_t claim_of_key(const StateArguments& arguments, uint32_t row, uint32_t hash,
                                                        bool is_looked_up) {
  BucketPair pair = {};
  Slot group = {};
  if (is_looked_up) group = group_slot(arguments, row, hash, pair);
  __syncwarp();
  uint64_t claim = 0;
  if (group.is_claimed) claim = claim_of_claimant(arguments, row, hash, pair);
  __syncwarp();
  return is_looked_up && !group.is_claimed ? FOLLOWS | (mark_of(group.entry) - 1) : claim;
}

static __device__ __forceinline__ bool is_follower(uint64_t claim) { return (claim & FOLLOWS) != 0; }

// Notes which state row a row of the batch waits for. The notes may take the place of the order.
static __device__ __forceinline__ void note_staged(const StateArguments& arguments, uint32_t at, uint32_t row,
                                                   uint64_t claim) {
  uint32_t number = NOT_STAGED;
  if (!is_follower(claim) && (claim & NEW_KEY) == 0 && (claim & STAGED) != 0) {
    number = mark_of(element_of<uint64_t>(arguments.index, static_cast<int64_t>(claim & ~STAGED))) - 1;
  }
  *slot_of<uint32_t>(arguments.staged_numbers, at) = number;
  *slot_of<uint32_t>(arguments.staged_rows, at) = row;
}

// The claimant of a row with this claim.
static __device__ __forceinline__ uint32_t claimant_of(uint64_t claim, uint32_t row) {
  return is_follower(claim) ? static_cast<uint32_t>(claim) : row;
}

// Tells the group that `row` belongs to it too. Numbers of earlier batches are smaller.
static __device__ __forceinline__ void add_follower(const StateArguments& arguments, uint32_t claimant, uint32_t row) {
  unsigned long long* followers = slot_of<unsigned long long>(arguments.followers, claimant);
  const unsigned long long follower = entry_of(arguments.batch, ~row);
  // Most rows of a group with many rows are not the first: reading spares them the atomic. What is read may be old.
  if (__ldca(followers) < follower) atomicMax(followers, follower);
}

// The claims of a warp's rows. Of the lanes with one key only the first touches the hash table; their rows ascend. Every lane
// calls it; lanes behind the last row get 0.
static __device__ __forceinline__ uint64_t claim_of_row(const StateArguments& arguments, uint32_t row) {
  const bool is_row = row < arguments.rows;
  const uint32_t hash = is_row ? hash_of_key(arguments, row) : 0;
  // Lanes behind the last row are no peers of others.
  const uint32_t rows = __ballot_sync(ALL_LANES, is_row);
  const uint32_t peers = __match_any_sync(ALL_LANES, hash) & (is_row ? rows : ~rows);
  const int first_lane = __ffs(peers) - 1;
  const bool is_first_lane = first_lane == lane_of_thread();
  const uint32_t row_of_first = __shfl_sync(ALL_LANES, row, first_lane);
  const bool follows = is_row && !is_first_lane && equal_keys(arguments, row, row_of_first);
  const uint64_t claim = claim_of_key(arguments, row, hash, is_row && !follows);
  const uint64_t claim_of_first = __shfl_sync(ALL_LANES, claim, first_lane);
  const uint32_t followers = __ballot_sync(ALL_LANES, follows) & peers;
  const uint32_t first_follower = __shfl_sync(ALL_LANES, row, (__ffs(followers) - 1) & (WARP - 1));
  if (follows) return FOLLOWS | claimant_of(claim_of_first, row_of_first);
  if (is_follower(claim)) add_follower(arguments, claimant_of(claim, row), row);
  // The claimant is before the followers in its warp, so any of them tells that there are some.
  if (is_row && !is_follower(claim) && is_first_lane && followers != 0) {
    add_follower(arguments, row, first_follower);
  }
  return claim;
}

// As combine_accumulators. How often a word of a sum carries does not depend on the order of additions.
static __device__ __forceinline__ void combine_atomically(int32_t operation, uint64_t* target, uint64_t accumulator,
                                                          uint64_t first, uint64_t& carry) {
  unsigned long long* word = reinterpret_cast<unsigned long long*>(target);
  if (is_extreme(operation)) {
    if (accumulator != 0) atomicMax(word, accumulator);
    return;
  }
  if (operation != OPERATION_CARRY) carry = first;
  const unsigned long long addend = accumulator + carry;
  // Zero, or all bits and a carry, which goes on to the next word.
  if (addend == 0) return;
  const unsigned long long before = atomicAdd(word, addend);
  carry = before + addend < before;
}

static __device__ __forceinline__ uint64_t* accumulators_of_group(const StateArguments& arguments, uint32_t group) {
  return partials_of_group(arguments, group) + arguments.first_accumulator - arguments.partial_base;
}

constexpr int WARP_STEPS = 5;  // of a reduction
constexpr int HOT_LANES = 4;  // a key of fewer lanes is not worth a reduction

// A key that many rows of a warp have. Its rows are accumulated per thread, in shared memory, and once per warp in the
// group: atomics on one address take turns.
struct HotKey {
  uint32_t group;  // the same in all lanes
  uint64_t* own;   // this thread's word of the first accumulator; a block's threads apart for each further one
};

static __device__ __forceinline__ void choose_hot_key(const StateArguments& arguments, HotKey& hot, uint32_t group) {
  if (hot.group != NO_GROUP) return;
  const uint32_t peers = __match_any_sync(ALL_LANES, group);
  const uint32_t candidates = __ballot_sync(ALL_LANES, group != NO_GROUP && __popc(peers) >= HOT_LANES);
  if (candidates == 0) return;
  hot.group = __shfl_sync(ALL_LANES, group, __ffs(candidates) - 1);
  for (int a = 0; a < arguments.accumulators; ++a) hot.own[a * STATE_THREADS] = 0;
}

static __device__ __forceinline__ void accumulate(const StateArguments& arguments, uint32_t row, uint32_t group,
                                                  const HotKey& hot) {
  const bool retracts = is_retraction(arguments, row);
  uint64_t* partials = accumulators_of_group(arguments, group);
  const uint64_t first = first_carry(retracts);
  uint64_t carry = 0;
  for (int a = 0; a < arguments.accumulators; ++a) {
    const AccumulatedValue& value = arguments.value[a];
    // The claimant has the same constant.
    if (is_ordered(value.operation) || value.type == VALUE_CONSTANT || is_null_in(value, row)) continue;
    const uint64_t accumulator = accumulator_of(value, row, retracts);
    if (group == hot.group) {
      uint64_t* own = hot.own + a * STATE_THREADS;
      *own = combine_accumulators(value.operation, *own, accumulator, first, carry);
    } else {
      combine_atomically(value.operation, partials + a, accumulator, first, carry);
    }
  }
}

// Combines one word in one of up to 32 steps that are repeated for each word; `carries` has a bit for each step.
static __device__ __forceinline__ uint64_t combine_in_step(int32_t operation, uint64_t left, uint64_t right, int step,
                                                           uint32_t& carries) {
  uint64_t carry = carries >> step & 1;
  const uint64_t combined = combine_accumulators(operation, left, right, 0, carry);
  carries = (carries & ~(1u << step)) | static_cast<uint32_t>(carry) << step;
  return combined;
}

// Adds the hot keys of the block's warps to their groups; warps with the same key together. Every thread calls it.
static __device__ __forceinline__ void accumulate_hot_keys(const StateArguments& arguments, const HotKey& hot) {
  __shared__ uint32_t groups[STATE_WARPS];
  uint64_t* own_of_block = hot.own - threadIdx.x;
  uint32_t carries = 0;
  for (int a = 0; a < arguments.accumulators && hot.group != NO_GROUP; ++a) {
    uint64_t accumulator = hot.own[a * STATE_THREADS];
    for (int step = 0; step < WARP_STEPS; ++step) {
      const uint64_t other = __shfl_xor_sync(ALL_LANES, accumulator, 1 << step);
      accumulator = combine_in_step(arguments.value[a].operation, accumulator, other, step, carries);
    }
    if (lane_of_thread() == 0) hot.own[a * STATE_THREADS] = accumulator;
  }
  if (lane_of_thread() == 0) groups[warp_of_thread()] = hot.group;
  __syncthreads();
  if (lane_of_thread() != 0 || hot.group == NO_GROUP) return;
  for (int warp = 0; warp < warp_of_thread(); ++warp) {
    if (groups[warp] == hot.group) return;
  }
  uint64_t* partials = accumulators_of_group(arguments, hot.group);
  carries = 0;
  uint64_t carry = 0;
  for (int a = 0; a < arguments.accumulators; ++a) {
    const int32_t operation = arguments.value[a].operation;
    uint64_t accumulator = 0;
    for (int warp = warp_of_thread(); warp < STATE_WARPS; ++warp) {
      if (groups[warp] != hot.group) continue;
      const uint64_t other = own_of_block[a * STATE_THREADS + warp * WARP];
      accumulator = combine_in_step(operation, accumulator, other, warp, carries);
    }
    combine_atomically(operation, partials + a, accumulator, 0, carry);
  }
}

}  // namespace millrace
