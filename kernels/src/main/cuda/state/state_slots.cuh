// SPDX-License-Identifier: Apache-2.0
// Hash tables of 8-byte entries with linear probing, read a sector at a time.
#pragma once

#include "state_row.cuh"

namespace millrace {

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

// The slot of a key, or the first empty slot. `is_key_of_mark` says whether an entry with the hash has the key;
// `before_claim` is called before each attempt to claim a slot.
template <typename IsKeyOfMark, typename BeforeClaim>
static __device__ __forceinline__ Slot find_or_claim(uint64_t table, int64_t mask, uint64_t claim,
                                                     IsKeyOfMark is_key_of_mark, BeforeClaim before_claim) {
  const uint32_t hash = hash_of(claim);
  for (int64_t at = first_slot(hash, mask);;) {
    const int64_t first = at & -BUCKET_SLOTS;
    const Bucket bucket = bucket_at(table, first);
    const int i = bucket.candidate(static_cast<int>(at - first), hash);
    const int64_t slot = first + i;
    if (i < BUCKET_SLOTS) {
      uint64_t entry = bucket.entry(i);
      if (entry == 0) {
        before_claim();
        entry = atomicCAS(slot_of<unsigned long long>(table, slot), 0ull, static_cast<unsigned long long>(claim));
        if (entry == 0) return {slot, claim, true};
      }
      if (hash_of(entry) == hash && is_key_of_mark(mark_of(entry))) return {slot, entry, false};
    }
    at = (i < BUCKET_SLOTS ? slot + 1 : slot) & mask;
  }
}

}  // namespace millrace
