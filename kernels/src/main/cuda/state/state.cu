// SPDX-License-Identifier: Apache-2.0
// A batch against keyed state: two launches.
//
//   state_group   groups the rows of the batch by key in a hash table of its own, accumulates the values of the rows behind
//                 the row that came first to the table, the group's claimant, and finds or claims the key's index entry
//   state_update  combines the state row of each distinct key with its claimant's values and the accumulated ones, and
//                 writes the values before and after, as a changelog
//   state_index   moves the entries of an index to a larger one
//
// Nothing depends on the order in which threads run: operations are associative and commutative, a key is known by its
// first row in the batch, changed keys are numbered in the order of their first rows, and new keys get the next rows of
// the state in that order. Only the slots of the index differ between runs; they are never written to a checkpoint.
//
// Bound: the chain of dependent reads for micro-batches, and the number of random sectors for large batches with many keys.
// So both hash tables are probed a sector at a time, each kernel has half of the chain, and what belongs to a group lies at
// its claimant's row: a key with a single row, the usual one if there are many keys, costs one random write in the batch's
// table, and one read and one write of its state row.
//
// Launch shapes (Java repeats them): STATE_THREADS per block; state_group and state_index with any number of blocks,
// state_group with 8 bytes of shared memory per thread and accumulator; state_update with `tiles` blocks, one row per
// thread.

#include "common/block.cuh"
#include "common/look_back.cuh"
#include "state_row.cuh"

namespace millrace {

constexpr int STATE_THREADS = 256;
constexpr int STATE_WARPS = STATE_THREADS / WARP;
constexpr uint32_t PENDING = 0xffffffffu;  // the row of an index entry that this batch adds
constexpr int NEW_KEYS_SHIFT = 31;         // of the two counts in a word of the look-back
constexpr uint64_t CHANGED_KEYS = (uint64_t{1} << NEW_KEYS_SHIFT) - 1;
constexpr uint32_t NO_GROUP = 0xffffffffu;

template <typename Value>
static __device__ __forceinline__ Value* slot_of(uint64_t address, int64_t index) {
  return reinterpret_cast<Value*>(address) + index;
}

static __device__ __forceinline__ uint64_t* partials_of_group(const StateArguments& arguments, uint32_t group) {
  const int64_t words = arguments.row_words - arguments.partial_base;
  return slot_of<uint64_t>(arguments.partials, group * words);
}

// Entries of both hash tables: the hash of a key in the high half, a row plus 1 in the low half. Zero: none.
static __device__ __forceinline__ uint64_t entry_of(uint32_t hash, uint32_t mark) {
  return static_cast<uint64_t>(hash) << 32 | mark;
}

static __device__ __forceinline__ uint32_t mark_of(uint64_t entry) { return static_cast<uint32_t>(entry); }
static __device__ __forceinline__ uint32_t hash_of(uint64_t entry) { return static_cast<uint32_t>(entry >> 32); }

// The slots of one sector. They are read past the cache of the multiprocessor, which does not see atomics of others.
struct Bucket {
  ulonglong2 low;
  ulonglong2 high;

  // The first slot from `at` on that is empty or has the hash; BUCKET_SLOTS if there is none.
  __device__ __forceinline__ int candidate(int at, uint32_t hash) const {
    const uint64_t entries[] = {low.x, low.y, high.x, high.y};
    int found = BUCKET_SLOTS;
#pragma unroll
    for (int i = BUCKET_SLOTS - 1; i >= 0; --i) {
      if (i >= at && (entries[i] == 0 || hash_of(entries[i]) == hash)) found = i;
    }
    return found;
  }

  __device__ __forceinline__ uint64_t entry(int i) const {
    const ulonglong2 pair = i < 2 ? low : high;
    return i % 2 == 0 ? pair.x : pair.y;
  }
};

static __device__ __forceinline__ Bucket bucket_at(uint64_t table, int64_t slot) {
  const ulonglong2* pairs = slot_of<const ulonglong2>(table, slot / 2);
  return {__ldcg(pairs), __ldcg(pairs + 1)};
}

struct Slot {
  int64_t at;
  uint64_t entry;
  bool is_claimed;  // it was empty, and has `claim` now
};

// The slot of a key, or the first empty slot. `is_key_of_mark` says whether an entry with the hash has the key.
template <typename IsKeyOfMark>
static __device__ __forceinline__ Slot find_or_claim(uint64_t table, int64_t mask, uint64_t claim,
                                                     IsKeyOfMark is_key_of_mark) {
  const uint32_t hash = hash_of(claim);
  for (int64_t at = first_slot(hash, mask);;) {
    const int64_t first = at & -BUCKET_SLOTS;
    const Bucket bucket = bucket_at(table, first);
    const int i = bucket.candidate(static_cast<int>(at - first), hash);
    const int64_t slot = first + i;
    if (i < BUCKET_SLOTS) {
      uint64_t entry = bucket.entry(i);
      if (entry == 0) {
        entry = atomicCAS(slot_of<unsigned long long>(table, slot), 0ull, static_cast<unsigned long long>(claim));
        if (entry == 0) return {slot, claim, true};
      }
      if (hash_of(entry) == hash && is_key_of_mark(mark_of(entry))) return {slot, entry, false};
    }
    at = (i < BUCKET_SLOTS ? slot + 1 : slot) & mask;
  }
}

static __device__ __forceinline__ Slot group_slot(const StateArguments& arguments, uint32_t row, uint32_t hash) {
  return find_or_claim(arguments.groups, arguments.group_mask, entry_of(hash, row + 1),
                       [&](uint32_t mark) { return equal_keys(arguments, row, mark - 1); });
}

// Keys of one batch are distinct here, so an entry that this launch adds is never the wanted one.
static __device__ __forceinline__ Slot index_slot(const StateArguments& arguments, uint32_t row, uint32_t hash) {
  return find_or_claim(arguments.index, arguments.index_mask, entry_of(hash, PENDING), [&](uint32_t mark) {
    return mark != PENDING && is_key_of(arguments, row, state_row(arguments, mark - 1));
  });
}

// The group of a key, known by its claimant. The claimant finds the key's row of the state.
static __device__ __forceinline__ uint32_t group_of_key(const StateArguments& arguments, uint32_t row, uint32_t hash) {
  const Slot group = group_slot(arguments, row, hash);
  if (!group.is_claimed) return mark_of(group.entry) - 1;
  const Slot index = index_slot(arguments, row, hash);
  const uint64_t state = index.is_claimed
                             ? NEW_KEY | index.at
                             : reinterpret_cast<uint64_t>(state_row(arguments, mark_of(index.entry) - 1));
  *slot_of<Claim>(arguments.claims, row) = {state, static_cast<uint32_t>(group.at), hash};
  return row;
}

// Tells the group that `row` belongs to it too. Numbers of earlier batches are smaller.
static __device__ __forceinline__ void add_follower(const StateArguments& arguments, uint32_t group, uint32_t row) {
  atomicMax(slot_of<unsigned long long>(arguments.followers, group),
            static_cast<unsigned long long>(entry_of(arguments.batch, ~row)));
}

// The groups of a warp's rows, NO_GROUP behind the last row. Of the lanes with one key only the first touches the hash
// table.
static __device__ __forceinline__ uint32_t group_of_row(const StateArguments& arguments, uint32_t row) {
  const bool is_row = row < arguments.rows;
  const uint32_t hash = is_row ? hash_of_key(arguments, row) : 0;
  // Lanes behind the last row are no peers of others.
  const uint32_t rows = __ballot_sync(ALL_LANES, is_row);
  const uint32_t peers = __match_any_sync(ALL_LANES, hash) & (is_row ? rows : ~rows);
  const int first_lane = __ffs(peers) - 1;
  const uint32_t first_of_warp = row - lane_of_thread();
  const bool follows = is_row && first_lane != lane_of_thread() && equal_keys(arguments, row, first_of_warp + first_lane);
  uint32_t group = NO_GROUP;
  if (is_row && !follows) group = group_of_key(arguments, row, hash);
  __syncwarp();
  const uint32_t group_of_first = __shfl_sync(ALL_LANES, group, first_lane);
  const uint32_t followers = __ballot_sync(ALL_LANES, follows) & peers;
  if (follows) return group_of_first;
  if (is_row && group != row) add_follower(arguments, group, row);
  // The claimant is before the followers in its warp, so any of them tells that there are some.
  if (group == row && first_lane == lane_of_thread() && followers != 0) {
    add_follower(arguments, group, first_of_warp + __ffs(followers) - 1);
  }
  return group;
}

static __device__ __forceinline__ void combine_atomically(int32_t operation, uint64_t* target, uint64_t accumulator) {
  unsigned long long* word = reinterpret_cast<unsigned long long*>(target);
  if (operation == OPERATION_SUM) {
    atomicAdd(word, accumulator);
  } else {
    atomicMax(word, accumulator);
  }
}

static __device__ __forceinline__ uint64_t* accumulators_of_group(const StateArguments& arguments, uint32_t group) {
  return partials_of_group(arguments, group) + arguments.first_accumulator - arguments.partial_base;
}

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
  for (int a = 0; a < arguments.accumulators; ++a) {
    const AccumulatedValue& value = arguments.value[a];
    if (is_null_in(value, row)) continue;
    const uint64_t accumulator = accumulator_of(value, row, retracts);
    if (group == hot.group) {
      uint64_t* own = hot.own + a * STATE_THREADS;
      *own = combine_accumulators(value.operation, *own, accumulator);
    } else {
      combine_atomically(value.operation, partials + a, accumulator);
    }
  }
}

// Adds the hot keys of the block's warps to their groups; warps with the same key together. Every thread calls it.
static __device__ __forceinline__ void accumulate_hot_keys(const StateArguments& arguments, const HotKey& hot) {
  __shared__ uint32_t groups[STATE_WARPS];
  uint64_t* own_of_block = hot.own - threadIdx.x;
  for (int a = 0; a < arguments.accumulators && hot.group != NO_GROUP; ++a) {
    uint64_t accumulator = hot.own[a * STATE_THREADS];
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
      const uint64_t other = __shfl_xor_sync(ALL_LANES, accumulator, distance);
      accumulator = combine_accumulators(arguments.value[a].operation, accumulator, other);
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
  for (int a = 0; a < arguments.accumulators; ++a) {
    const int32_t operation = arguments.value[a].operation;
    uint64_t accumulator = 0;
    for (int warp = warp_of_thread(); warp < STATE_WARPS; ++warp) {
      if (groups[warp] != hot.group) continue;
      accumulator = combine_accumulators(operation, accumulator, own_of_block[a * STATE_THREADS + warp * WARP]);
    }
    if (accumulator != 0) combine_atomically(operation, partials + a, accumulator);
  }
}

// Writes the key as it is in the batch, to both rows of the result.
static __device__ __forceinline__ void put_output_key(const StateArguments& arguments, uint32_t row, int64_t position) {
  for (int w = 0; w < arguments.key_words; ++w) {
    const KeyWord& word = arguments.key[w];
    const uint64_t bits = bits_at(word.data + row * word.stride, word.width);
    const uint64_t output = word.output + position * word.stride;
    if (word.stride == word.width) {
      put_pair(output, word.width, bits, bits);
    } else {
      put_bits(output, word.width, bits);
      put_bits(output + word.stride, word.width, bits);
    }
    if (word.output_validity != 0 && !is_null_in(word, row)) {
      atomicOr(slot_of<uint32_t>(word.output_validity, position >> 5), 3u << (position & 31));
    }
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
  put_pair(arguments.kinds + position, 1, static_cast<uint8_t>(before), static_cast<uint8_t>(after));
}

// Four words of a row: what is read and written at once.
struct Sector {
  uint64_t word[SECTOR_WORDS];
};

static __device__ __forceinline__ Sector read_sector(const uint64_t* words) {
  const ulonglong2* pairs = reinterpret_cast<const ulonglong2*>(words);
  const ulonglong2 low = pairs[0];
  const ulonglong2 high = pairs[1];
  return {low.x, low.y, high.x, high.y};
}

static __device__ __forceinline__ void write_sector(uint64_t* words, const Sector& sector) {
  ulonglong2* pairs = reinterpret_cast<ulonglong2*>(words);
  pairs[0] = {sector.word[0], sector.word[1]};
  pairs[1] = {sector.word[2], sector.word[3]};
}

// A group as its first row sees it.
struct Group {
  uint32_t claimant;
  bool has_followers;
};

// What the batch adds to the words of a sector: the claimant's values, and those of the rows behind it.
static __device__ __forceinline__ Sector batch_sector(const StateArguments& arguments, const Group& group, int first_word) {
  Sector batch = {};
  uint64_t* partials = partials_of_group(arguments, group.claimant) + first_word - arguments.partial_base;
  if (group.has_followers) {
    batch = read_sector(partials);
    write_sector(partials, {});
  }
  const bool retracts = is_retraction(arguments, group.claimant);
#pragma unroll
  for (int i = 0; i < SECTOR_WORDS; ++i) {
    const int a = first_word + i - arguments.first_accumulator;
    if (a < 0 || a >= arguments.accumulators) continue;
    const AccumulatedValue& value = arguments.value[a];
    if (is_null_in(value, group.claimant)) continue;
    const uint64_t accumulator = accumulator_of(value, group.claimant, retracts);
    batch.word[i] = combine_accumulators(value.operation, batch.word[i], accumulator);
  }
  return batch;
}

// How a key was and is, over all sectors of its row.
struct Change {
  bool was_present;
  bool is_present;
  bool is_changed;
};

static __device__ __forceinline__ void update_sector(const StateArguments& arguments, const Sector& batch, int first_word,
                                                     int64_t position, Sector& state, Change& change) {
#pragma unroll
  for (int i = 0; i < SECTOR_WORDS; ++i) {
    const int a = first_word + i - arguments.first_accumulator;
    if (a < 0 || a >= arguments.accumulators) continue;
    const AccumulatedValue& value = arguments.value[a];
    const uint64_t before = state.word[i];
    const uint64_t after = combine_accumulators(value.operation, before, batch.word[i]);
    state.word[i] = after;
    change.is_changed |= before != after;
    if (a == arguments.row_count) {
      change.was_present = before != 0;
      change.is_present = after != 0;
    }
    if (arguments.kinds != 0) put_results(value, position, before, after);
  }
}

// `first` is the sector of the first accumulator, of a key that was there before.
static __device__ __forceinline__ void update_row(const StateArguments& arguments, uint32_t row, const Group& group,
                                                  uint64_t* state, bool is_new, const Sector& first, int64_t position) {
  Change change = {!is_new, true, false};
  if (is_new) put_key(arguments, row, state);
  for (int word = arguments.partial_base; word < arguments.row_words; word += SECTOR_WORDS) {
    const Sector batch = batch_sector(arguments, group, word);
    Sector sector = word == arguments.partial_base && !is_new ? first : read_sector(state + word);
    update_sector(arguments, batch, word, position, sector, change);
    write_sector(state + word, sector);
  }
  if (arguments.kinds != 0) {
    put_output_key(arguments, row, position);
    put_kinds(arguments, position, change.was_present, change.is_present, change.is_changed);
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
  HotKey hot = {NO_GROUP, partials_of_threads + threadIdx.x};
  // All lanes of a warp make the same number of rounds.
  for (uint32_t first = thread - lane_of_thread(); first < arguments.rows; first += threads) {
    const uint32_t row = first + lane_of_thread();
    const uint32_t group = group_of_row(arguments, row);
    if (group != NO_GROUP) *slot_of<uint32_t>(arguments.group_of, row) = group;
    choose_hot_key(arguments, hot, group);
    if (group != NO_GROUP && group != row) accumulate(arguments, row, group, hot);
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
  Group group = {};
  Claim claim = {};
  bool is_first = false;
  if (row < arguments.rows) {
    group.claimant = element_of<uint32_t>(arguments.group_of, row);
    const uint64_t followers = element_of<uint64_t>(arguments.followers, group.claimant);
    claim = element_of<Claim>(arguments.claims, group.claimant);
    group.has_followers = hash_of(followers) == arguments.batch;
    const uint32_t first_follower = ~mark_of(followers);
    const bool is_claimant_first = !group.has_followers || group.claimant < first_follower;
    is_first = row == (is_claimant_first ? group.claimant : first_follower);
  }
  const bool is_new = is_first && (claim.state & NEW_KEY) != 0;
  uint64_t* state = reinterpret_cast<uint64_t*>(claim.state);
  Sector first_sector = {};
  if (is_first && !is_new) first_sector = read_sector(state + arguments.partial_base);
  const uint64_t own = (is_first ? 1 : 0) | (is_new ? uint64_t{1} << NEW_KEYS_SHIFT : 0);
  const uint64_t before = counts_before(arguments, tile, own);
  if (!is_first) return;
  *slot_of<uint64_t>(arguments.groups, claim.group_slot) = 0;
  if (is_new) {
    const int64_t state_number = arguments.state_rows + static_cast<int64_t>(before >> NEW_KEYS_SHIFT);
    state = state_row(arguments, state_number);
    *slot_of<uint64_t>(arguments.index, static_cast<int64_t>(claim.state & ~NEW_KEY)) =
        entry_of(claim.hash, static_cast<uint32_t>(state_number + 1));
  }
  update_row(arguments, row, group, state, is_new, first_sector, 2 * static_cast<int64_t>(before & CHANGED_KEYS));
}

extern "C" __global__ void __launch_bounds__(STATE_THREADS)
    state_index(const __grid_constant__ StateIndexArguments arguments) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * STATE_THREADS;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(STATE_THREADS) + threadIdx.x; i < arguments.source_slots; i += stride) {
    const uint64_t entry = element_of<uint64_t>(arguments.source, i);
    if (entry == 0) continue;
    find_or_claim(arguments.target, arguments.target_mask, entry, [](uint32_t) { return false; });
  }
}
