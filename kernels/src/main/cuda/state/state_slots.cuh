// SPDX-License-Identifier: Apache-2.0
// Hash tables of 8-byte entries, read a bucket at a time: that of a batch, with linear probing, and the index of a state.
#pragma once

#include "state_row.cuh"

namespace millrace {

constexpr int BUCKET = 4;  // slots: a sector

template <typename Value>
static __device__ __forceinline__ Value* slot_of(uint64_t address, int64_t index) {
  return reinterpret_cast<Value*>(address) + index;
}

// Entries of both hash tables: the hash of a key in the high half, a row plus 1 in the low half. Zero: none.
static __device__ __forceinline__ uint64_t entry_of(uint32_t hash, uint32_t mark) {
  return static_cast<uint64_t>(hash) << 32 | mark;
}

static __device__ __forceinline__ uint32_t mark_of(uint64_t entry) { return static_cast<uint32_t>(entry); }
static __device__ __forceinline__ uint32_t hash_of(uint64_t entry) { return static_cast<uint32_t>(entry >> 32); }

// Neighbouring slots, read at once. The reads may be served by the cache of the multiprocessor: an entry never changes
// while keys are looked up, and who takes a claimed slot for an empty one learns better when it tries to claim it.
struct Bucket {
  uint64_t entries[BUCKET];

  // The bucket that begins with a slot.
  static __device__ __forceinline__ Bucket at(uint64_t table, int64_t slot) {
    const ulonglong2* pairs = slot_of<const ulonglong2>(table, slot / 2);
    const ulonglong2 low = __ldca(pairs);
    const ulonglong2 high = __ldca(pairs + 1);
    return {low.x, low.y, high.x, high.y};
  }

  // The same entries from a slot of the bucket on, and then those before it.
  __device__ __forceinline__ Bucket from(int start) const {
    const bool is_half = (start & 2) != 0;
    const uint64_t first = is_half ? entries[2] : entries[0];
    const uint64_t second = is_half ? entries[3] : entries[1];
    const uint64_t third = is_half ? entries[0] : entries[2];
    const uint64_t fourth = is_half ? entries[1] : entries[3];
    if ((start & 1) != 0) return {second, third, fourth, first};
    return {first, second, third, fourth};
  }

  // The first place from `first` on that is empty or has the hash, and its entry; BUCKET if there is none.
  __device__ __forceinline__ int find(int first, uint32_t hash, uint64_t& entry) const {
    int found = BUCKET;
#pragma unroll
    for (int i = BUCKET - 1; i >= 0; --i) {
      if (i >= first && (entries[i] == 0 || hash_of(entries[i]) == hash)) {
        found = i;
        entry = entries[i];
      }
    }
    return found;
  }
};

struct Slot {
  int64_t at;
  uint64_t entry;
  bool is_claimed;  // it was empty, and has `claim` now
};

// The slot of a key of a batch, or the first empty slot, which it gets then. `is_key_of_mark` says whether an entry with the
// hash has the key; `before_first_claim` is called before the first attempt to claim a slot. The search begins within a
// bucket: all rows of a batch search at once, and of the keys of a bucket only one gets the slot that it tries to claim first.
template <typename IsKeyOfMark, typename BeforeFirstClaim>
static __device__ __forceinline__ Slot find_or_claim(uint64_t table, int64_t mask, uint64_t claim, IsKeyOfMark is_key_of_mark,
                                                     BeforeFirstClaim before_first_claim) {
  const uint32_t hash = hash_of(claim);
  const int start = hash % BUCKET;
  int64_t first = hash & mask & -BUCKET;
  Bucket bucket = Bucket::at(table, first).from(start);
  bool claims = false;
  for (int from = 0;;) {
    uint64_t entry = 0;
    const int i = bucket.find(from, hash, entry);
    if (i < BUCKET) {
      const int64_t slot = first + (start + i) % BUCKET;
      if (entry == 0) {
        if (!claims) before_first_claim();
        claims = true;
        entry = atomicCAS(slot_of<unsigned long long>(table, slot), 0ull, static_cast<unsigned long long>(claim));
        if (entry == 0) return {slot, claim, true};
      }
      if (hash_of(entry) == hash && is_key_of_mark(mark_of(entry))) return {slot, entry, false};
      from = i + 1;
    } else {
      from = 0;
      first = (first + BUCKET) & mask;
      bucket = Bucket::at(table, first).from(start);
    }
  }
}

// Two buckets of an index. A key that comes gets a slot of the emptier one; if both are full, it goes on to the next two, the
// buckets behind them. As no slot becomes empty again, a key that is not found is in no later buckets if one of these two has
// an empty slot.
//
// So the longest search of a batch, which the launch waits for, is short also where nearly all slots are taken (two choices:
// Azar, Broder, Karlin, Upfal, "Balanced Allocations"). Both buckets lie in one region, whose addresses are translated together.
struct BucketPair {
  static constexpr uint32_t REGION = 1 << 16;  // buckets: 2 MiB; Java repeats it
  static constexpr uint32_t SPREAD = 0x9e3779b9u;
  static constexpr uint32_t SLOTS_OF_FIRST = (1u << BUCKET) - 1;

  uint32_t first;  // numbers of buckets
  uint32_t second;
  Bucket of_first;
  Bucket of_second;

  static __device__ __forceinline__ BucketPair at(uint64_t index, uint32_t first, uint32_t second) {
    return {first, second, Bucket::at(index, int64_t{BUCKET} * first),
            Bucket::at(index, int64_t{BUCKET} * second)};
  }

  // The two where the search for a key begins. `buckets` is a power of two up to REGION, then a multiple of REGION.
  static __device__ __forceinline__ BucketPair of_hash(uint64_t index, uint32_t buckets, uint32_t hash) {
    const uint32_t first = __umulhi(hash, buckets);
    const uint32_t region = min(buckets, REGION) - 1;
    const uint32_t distance = hash * SPREAD >> 16 | 1;
    return at(index, first, (first & ~region) | ((first + distance) & region));
  }

  __device__ __forceinline__ BucketPair next(uint64_t index, uint32_t buckets) const {
    return at(index, first + 1 == buckets ? 0 : first + 1, second + 1 == buckets ? 0 : second + 1);
  }

  // A bit for each slot whose entry has the hash.
  __device__ __forceinline__ uint32_t with_hash(uint32_t hash) const {
    uint32_t slots = 0;
#pragma unroll
    for (int i = 0; i < 2 * BUCKET; ++i) {
      if (entry(i) != 0 && hash_of(entry(i)) == hash) slots |= 1u << i;
    }
    return slots;
  }

  __device__ __forceinline__ uint32_t empty() const {
    uint32_t slots = 0;
#pragma unroll
    for (int i = 0; i < 2 * BUCKET; ++i) {
      if (entry(i) == 0) slots |= 1u << i;
    }
    return slots;
  }

  __device__ __forceinline__ uint64_t entry(int slot) const {
    uint64_t entry = 0;
#pragma unroll
    for (int i = 0; i < BUCKET; ++i) {
      if (slot == i) entry = of_first.entries[i];
      if (slot == BUCKET + i) entry = of_second.entries[i];
    }
    return entry;
  }

  __device__ __forceinline__ int64_t number(int slot) const {
    return int64_t{BUCKET} * (slot < BUCKET ? first : second) + slot % BUCKET;
  }

  // One of some empty slots, of the bucket that has more of them.
  static __device__ __forceinline__ int choose(uint32_t empty) {
    const uint32_t of_first = empty & SLOTS_OF_FIRST;
    const uint32_t of_second = empty & ~SLOTS_OF_FIRST;
    return __ffs(__popc(of_first) >= __popc(of_second) ? of_first : of_second) - 1;
  }
};

// The slot of a key in an index, from a pair of buckets on. If there is none, its entry is zero, and `pair` has an empty slot.
template <typename IsKeyOfMark>
static __device__ __forceinline__ Slot find_in_index(uint64_t index, uint32_t buckets, uint32_t hash, BucketPair& pair,
                                                     IsKeyOfMark is_key_of_mark) {
  for (;;) {
    for (uint32_t slots = pair.with_hash(hash); slots != 0; slots &= slots - 1) {
      const int slot = __ffs(slots) - 1;
      const uint64_t entry = pair.entry(slot);
      if (is_key_of_mark(mark_of(entry))) return {pair.number(slot), entry, false};
    }
    if (pair.empty() != 0) return {};
    pair = pair.next(index, buckets);
  }
}

// Claims a slot for a key that the index lacks, from a pair of buckets on. Other keys are added meanwhile, but not this one.
static __device__ __forceinline__ Slot claim_in_index(uint64_t index, uint32_t buckets, uint64_t claim, BucketPair& pair) {
  for (uint32_t empty = pair.empty();;) {
    if (empty == 0) {
      pair = pair.next(index, buckets);
      empty = pair.empty();
      continue;
    }
    const int slot = BucketPair::choose(empty);
    const int64_t number = pair.number(slot);
    if (atomicCAS(slot_of<unsigned long long>(index, number), 0ull, static_cast<unsigned long long>(claim)) == 0) {
      return {number, claim, true};
    }
    empty &= ~(1u << slot);
  }
}

}  // namespace millrace
