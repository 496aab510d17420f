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
  BucketPair pair = BucketPair::of_hash(arguments.index, arguments.index_buckets, hash);
  const Slot slot = find_in_index(arguments.index, arguments.index_buckets, hash, pair, [&](uint32_t mark) {
    return is_key_of(arguments, row, state_row(arguments, mark - 1));
  });
  number = static_cast<int64_t>(mark_of(slot.entry)) - 1;
  return slot.entry == 0 ? nullptr : state_row(arguments, number);
}

}  // namespace millrace
