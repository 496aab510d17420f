// SPDX-License-Identifier: Apache-2.0
// Looks keys up in keyed state, which stays as it is.
//
//   state_find    writes the number of the state row of each row's key
//   state_lookup  copies the state row of each row's key, where the keys are those of state rows of another table: the words
//                 of the key from there, and the accumulators; zeros if there is no row, or an expired one
//
// Bound: random reads; a bucket of the index and the sectors of a state row for each row.
//
// Launch shape (Java repeats it): STATE_LOOKUP_THREADS per block, one row per thread.

// Keys may have strings.
#define MILLRACE_STRING_KEYS

#include "state_find.cuh"

namespace millrace {

constexpr int STATE_LOOKUP_THREADS = 256;

// The first members are as in StateArguments. In state_lookup the null word is a word of the key like the others.
struct StateLookupArguments {
  uint64_t index;  // 0: the table has no row
  uint64_t chunks;
  uint64_t strings;
  int64_t index_buckets;
  uint64_t numbers;      // of state_find: int32 or int64 per row, NO_ROW if there is none
  uint64_t source;       // of state_lookup: the first state row with a key
  uint64_t target;       // likewise: where copies go, one behind the other
  uint64_t oldest_time;  // the word of the oldest time that has not expired, without `time_mask`; 0: no row expires
  uint64_t time_mask;
  int32_t key_words;
  int32_t has_null_word;
  int32_t row_words;
  int32_t chunk_shift;
  int32_t rows;
  int32_t number_width;  // bytes: 4 or 8
  int32_t source_words;  // of a row at `source`
  int32_t first_accumulator;
  KeyWord key[MAX_KEY_WORDS];
};

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(StateLookupArguments);

extern "C" __global__ void __launch_bounds__(STATE_LOOKUP_THREADS)
    state_find(const __grid_constant__ StateLookupArguments arguments) {
  const int64_t row = blockIdx.x * static_cast<int64_t>(STATE_LOOKUP_THREADS) + threadIdx.x;
  if (row >= arguments.rows) return;
  int64_t number = NO_ROW;
  if (arguments.index != 0) find_row(arguments, row, number);
  put_bits(arguments.numbers + row * arguments.number_width, arguments.number_width, static_cast<uint64_t>(number));
}

extern "C" __global__ void __launch_bounds__(STATE_LOOKUP_THREADS)
    state_lookup(const __grid_constant__ StateLookupArguments arguments) {
  const int64_t row = blockIdx.x * static_cast<int64_t>(STATE_LOOKUP_THREADS) + threadIdx.x;
  if (row >= arguments.rows) return;
  int64_t number;
  const uint64_t* state = arguments.index == 0 ? nullptr : find_row(arguments, row, number);
  if (state != nullptr && arguments.oldest_time != 0 &&
      (state[arguments.first_accumulator] ^ arguments.time_mask) < arguments.oldest_time) {
    state = nullptr;
  }
  const uint64_t* source = slot_of<const uint64_t>(arguments.source, row * arguments.source_words);
  uint64_t* target = slot_of<uint64_t>(arguments.target, row * arguments.row_words);
  for (int32_t w = 0; w < arguments.first_accumulator; ++w) target[w] = source[w];
  for (int32_t w = arguments.first_accumulator; w < arguments.row_words; ++w) {
    target[w] = state == nullptr ? 0 : state[w];
  }
}
