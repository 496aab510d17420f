// SPDX-License-Identifier: Apache-2.0
// Hash tables of 8-byte entries with linear probing, read a bucket at a time.
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

// Where the search for a key begins: at a bucket.
template <int SLOTS>
static __device__ __forceinline__ int64_t first_slot(uint32_t hash, int64_t mask) {
  return hash & mask & -SLOTS;
}

// Neighbouring slots, read at once. The reads may be served by the cache of the multiprocessor: an entry never changes
// while keys are looked up, and who takes a claimed slot for an empty one learns better when it tries to claim it.
template <int SLOTS>
struct Bucket {
  uint64_t entries[SLOTS];

  // The bucket that begins with a slot.
  static __device__ __forceinline__ Bucket at(uint64_t table, int64_t slot) {
    const ulonglong2* pairs = slot_of<const ulonglong2>(table, slot / 2);
    Bucket bucket;
#pragma unroll
    for (int i = 0; i < SLOTS; i += 2) {
      const ulonglong2 pair = __ldca(pairs + i / 2);
      bucket.entries[i] = pair.x;
      bucket.entries[i + 1] = pair.y;
    }
    return bucket;
  }

  // The first slot from `first` on that is empty or has the hash, and its entry; SLOTS if there is none.
  __device__ __forceinline__ int find(int first, uint32_t hash, uint64_t& entry) const {
    int found = SLOTS;
#pragma unroll
    for (int i = SLOTS - 1; i >= 0; --i) {
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

// The bucket where the search for a key begins.
template <int SLOTS>
static __device__ __forceinline__ Bucket<SLOTS> first_bucket(uint64_t table, uint32_t hash, int64_t mask) {
  return Bucket<SLOTS>::at(table, first_slot<SLOTS>(hash, mask));
}

// The slot of a key, or the first empty slot. Begins with `bucket`, which begins with the slot `first`, at its slot `from`.
// `is_key_of_mark` says whether an entry with the hash has the key; `before_claim` is called before each attempt to claim a
// slot.
template <int SLOTS, typename IsKeyOfMark, typename BeforeClaim>
static __device__ __forceinline__ Slot find_or_claim_from(uint64_t table, int64_t mask, uint64_t claim, Bucket<SLOTS> bucket,
                                                          int64_t first, int from, IsKeyOfMark is_key_of_mark,
                                                          BeforeClaim before_claim) {
  const uint32_t hash = hash_of(claim);
  for (;;) {
    uint64_t entry = 0;
    const int i = bucket.find(from, hash, entry);
    if (i < SLOTS) {
      if (entry == 0) {
        before_claim();
        entry = atomicCAS(slot_of<unsigned long long>(table, first + i), 0ull, static_cast<unsigned long long>(claim));
        if (entry == 0) return {first + i, claim, true};
      }
      if (hash_of(entry) == hash && is_key_of_mark(mark_of(entry))) return {first + i, entry, false};
      from = i + 1;
    } else {
      from = 0;
      first = (first + SLOTS) & mask;
      bucket = Bucket<SLOTS>::at(table, first);
    }
  }
}

// The same from the first bucket of the key on, which is `bucket`.
template <int SLOTS, typename IsKeyOfMark, typename BeforeClaim>
static __device__ __forceinline__ Slot find_or_claim(uint64_t table, int64_t mask, uint64_t claim, Bucket<SLOTS> bucket,
                                                     IsKeyOfMark is_key_of_mark, BeforeClaim before_claim) {
  return find_or_claim_from(table, mask, claim, bucket, first_slot<SLOTS>(hash_of(claim), mask), 0, is_key_of_mark,
                            before_claim);
}

}  // namespace millrace
