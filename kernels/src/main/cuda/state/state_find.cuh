// SPDX-License-Identifier: Apache-2.0
// Finds the rows of keys in keyed state, and changes nothing.
#pragma once

#include "state_slots.cuh"

namespace millrace {

constexpr int64_t NO_ROW = -1;

// The state row of a row's key, and its number; null and NO_ROW if there is none.
template <typename Arguments>
static __device__ __forceinline__ const uint64_t* find_row(const Arguments& arguments, int64_t row, int64_t& number) {
  const uint32_t hash = hash_of_key(arguments, row);
  int64_t first = first_slot<BUCKET>(hash, arguments.index_mask);
  Bucket<BUCKET> bucket = Bucket<BUCKET>::at(arguments.index, first);
  for (int from = 0;;) {
    uint64_t entry = 0;
    const int i = bucket.find(from, hash, entry);
    if (i < BUCKET) {
      number = static_cast<int64_t>(mark_of(entry)) - 1;
      if (entry == 0) return nullptr;
      const uint64_t* state = state_row(arguments, number);
      if (is_key_of(arguments, row, state)) return state;
      from = i + 1;
    } else {
      from = 0;
      first = (first + BUCKET) & arguments.index_mask;
      bucket = Bucket<BUCKET>::at(arguments.index, first);
    }
  }
}

}  // namespace millrace
