// SPDX-License-Identifier: Apache-2.0
// A group of a batch and the state row of its key, a sector at a time.
#pragma once

#include "state_group.cuh"

namespace millrace {

// Writes the key as it is in the batch to both rows of the result; of a string, the row of the batch that has it.
static __device__ __forceinline__ void put_output_key(const StateArguments& arguments, int64_t row, int64_t position) {
  for (int w = 0; w < arguments.key_words; ++w) {
    const KeyWord& word = arguments.key[w];
    if (is_tail(word)) continue;
    const uint64_t bits = is_string(word) ? static_cast<uint64_t>(row) : bits_at(word.data + row * word.stride, word.width);
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

// Four words of a row: what is read and written at once, past the cache of the multiprocessor.
struct Sector {
  uint64_t word[SECTOR_WORDS];
};

static __device__ __forceinline__ Sector read_sector(const uint64_t* words) {
  const ulonglong2* pairs = reinterpret_cast<const ulonglong2*>(words);
  const ulonglong2 low = __ldcg(pairs);
  const ulonglong2 high = __ldcg(pairs + 1);
  return {low.x, low.y, high.x, high.y};
}

static __device__ __forceinline__ void write_sector(uint64_t* words, const Sector& sector) {
  ulonglong2* pairs = reinterpret_cast<ulonglong2*>(words);
  pairs[0] = {sector.word[0], sector.word[1]};
  pairs[1] = {sector.word[2], sector.word[3]};
}

// A group as the thread of its first row sees it.
struct Group {
  uint32_t claimant;
  bool has_followers;
  bool is_new;
  uint64_t* state;  // the row of a key that was there before
};

// Finds the group of a row; true if the row is the first of its key in the batch.
static __device__ __forceinline__ bool find_group(const StateArguments& arguments, uint32_t row, Group& group) {
  uint64_t claim = element_of<uint64_t>(arguments.claims, row);
  const bool follows = is_follower(claim);
  group.claimant = claimant_of(claim, row);
  const uint64_t followers = element_of<uint64_t>(arguments.followers, group.claimant);
  const uint32_t first_follower = ~mark_of(followers);
  group.has_followers = hash_of(followers) == arguments.batch;
  const bool is_claimant_first = !group.has_followers || group.claimant < first_follower;
  if (is_claimant_first ? follows : row != first_follower) return false;
  if (follows) claim = element_of<uint64_t>(arguments.claims, group.claimant);
  group.is_new = (claim & NEW_KEY) != 0;
  group.state = reinterpret_cast<uint64_t*>(claim);
  return true;
}

// A sector of a key: as it was, and what the batch adds to it.
struct SectorUpdate {
  Sector state;
  Sector batch;
};

static __device__ __forceinline__ uint64_t* partial_sector(const StateArguments& arguments, const Group& group,
                                                           int first_word) {
  return partials_of_group(arguments, group.claimant) + first_word - arguments.partial_base;
}

// Reads the state and what was accumulated over the rows behind the claimant. A sector that is read must not be written soon
// after: the cache of the multiprocessor makes the write wait.
static __device__ __forceinline__ SectorUpdate read_sectors(const StateArguments& arguments, const Group& group,
                                                            int first_word) {
  SectorUpdate update = {};
  if (!group.is_new) update.state = read_sector(group.state + first_word);
  if (group.has_followers) update.batch = read_sector(partial_sector(arguments, group, first_word));
  return update;
}

// `carry` is out of the last word of the sector before, and becomes the carry out of this one.
static __device__ __forceinline__ void add_claimant(const StateArguments& arguments, const Group& group, int first_word,
                                                    Sector& batch, uint64_t& carry) {
  const bool retracts = is_retraction(arguments, group.claimant);
#pragma unroll
  for (int i = 0; i < SECTOR_WORDS; ++i) {
    const int a = first_word + i - arguments.first_accumulator;
    if (a < 0 || a >= arguments.accumulators) continue;
    const AccumulatedValue& value = arguments.value[a];
    if (is_ordered(value.operation) || is_null_in(value, group.claimant)) continue;
    const uint64_t accumulator = accumulator_of(value, group.claimant, retracts);
    batch.word[i] =
        combine_accumulators(value.operation, batch.word[i], accumulator, first_carry(retracts), carry);
  }
}

// How a key was and is, over all sectors of its row.
struct Change {
  bool was_present;
  bool is_present;
  bool is_changed;
  uint64_t carry;  // out of the last word of the state
};

template <bool HAS_RESULT>
static __device__ __forceinline__ void combine_sector(const StateArguments& arguments, SectorUpdate& update, int first_word,
                                                      int64_t position, Change& change) {
#pragma unroll
  for (int i = 0; i < SECTOR_WORDS; ++i) {
    const int a = first_word + i - arguments.first_accumulator;
    if (a < 0 || a >= arguments.accumulators) continue;
    const AccumulatedValue& value = arguments.value[a];
    const uint64_t before = update.state.word[i];
    const uint64_t after = combine_accumulators(value.operation, before, update.batch.word[i], 0, change.carry);
    update.state.word[i] = after;
    change.is_changed |= before != after;
    if (a == arguments.row_count) {
      change.was_present = before != 0;
      change.is_present = after != 0;
    }
    if (HAS_RESULT && arguments.kinds != 0) put_results(value, position, before, after);
  }
}

// The words of the key in a sector of a row that begins again.
static __device__ __forceinline__ void keep_key(const StateArguments& arguments, Sector& sector, const uint64_t* state,
                                                int first_word) {
#pragma unroll
  for (int i = 0; i < SECTOR_WORDS; ++i) {
    if (first_word + i < arguments.first_accumulator) sector.word[i] = state[first_word + i];
  }
}

// Adds the entry of a new key to the index and its key to the row.
static __device__ __forceinline__ uint64_t* add_row(const StateArguments& arguments, uint32_t row, const Group& group,
                                                    int64_t state_number) {
  const int64_t slot = static_cast<int64_t>(reinterpret_cast<uint64_t>(group.state) & ~NEW_KEY);
  *slot_of<uint64_t>(arguments.index, slot) =
      entry_of(hash_of_key(arguments, row), static_cast<uint32_t>(state_number + 1));
  mark_page(arguments, state_number);
  uint64_t* state = state_row(arguments, state_number);
  put_key(arguments, row, state);
  if (STRING_KEYS) note_new_key(arguments, row, state_number - arguments.state_rows);
  return state;
}

// Whether a row has expired: the key begins again. `sector` is that of the first accumulator, the time.
static __device__ __forceinline__ bool is_expired(const StateArguments& arguments, const Sector& sector) {
  if (arguments.oldest_time == 0) return false;
  uint64_t time = 0;
#pragma unroll
  for (int i = 0; i < SECTOR_WORDS; ++i) {
    if (arguments.partial_base + i == arguments.first_accumulator) time = sector.word[i];
  }
  return (time ^ arguments.time_mask) < arguments.oldest_time;
}

// `update` is what read_sectors gave for the sector of the first accumulator. Where rows expire, each update of a key is a
// change: it renews the time.
static __device__ __forceinline__ void update_row(const StateArguments& arguments, uint32_t row, const Group& group,
                                                  uint64_t* state, SectorUpdate& update, int64_t position) {
  Change change = {!group.is_new, true, arguments.oldest_time != 0, 0};
  uint64_t batch_carry = 0;
  for (int word = arguments.partial_base;;) {
    add_claimant(arguments, group, word, update.batch, batch_carry);
    combine_sector<true>(arguments, update, word, position, change);
    if (group.is_new) keep_key(arguments, update.state, state, word);
    write_sector(state + word, update.state);
    if (group.has_followers) write_sector(partial_sector(arguments, group, word), {});
    word += SECTOR_WORDS;
    if (word >= arguments.row_words) break;
    update = read_sectors(arguments, group, word);
  }
  if (arguments.positions != 0) {
    // Other threads read from the claim only that the claimant follows no other row.
    *slot_of<uint64_t>(arguments.claims, group.claimant) = reinterpret_cast<uint64_t>(state);
    *slot_of<uint32_t>(arguments.positions, group.claimant) = static_cast<uint32_t>(position / 2);
  }
  if (arguments.kinds != 0) {
    put_output_key(arguments, row, position);
    put_kinds(arguments, position, change.was_present, change.is_present, change.is_changed);
  }
}

}  // namespace millrace
