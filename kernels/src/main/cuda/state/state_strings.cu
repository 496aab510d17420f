// SPDX-License-Identifier: Apache-2.0
// A batch against keyed state whose key has strings: the kernels of state.cu, and one more.
//
//   state_strings   stores the long strings of the keys that state_update added: their bytes behind the strings that the
//                   state has, and their places in the rows of the keys. Launched only if there are any
//
// Strings lie in the order of the new keys and, within a key, of its columns: so their places do not depend on the order
// in which threads run, and consecutive rows have consecutive strings.
//
// Bound: memory. The threads of a block divide the words of its strings, not the strings: each thread writes words at
// consecutive places, whatever the lengths are.
//
// Launch shape (Java repeats it): `tiles` blocks of STRING_THREADS, one new key per thread.

#define MILLRACE_STRING_KEYS
#include "state.cu"
#include "state_place.cuh"

namespace millrace {

constexpr int STRING_THREADS = 256;

static __device__ __forceinline__ uint64_t words_of_new_key(const StateStringsArguments& arguments, uint32_t row) {
  uint64_t words = 0;
  for (int w = 0; w < arguments.key_words; ++w) {
    if (is_tail(arguments.key[w])) words += words_of_string(string_of_key(arguments.key[w], row));
  }
  return words;
}

static __device__ __forceinline__ void put_places(const StateStringsArguments& arguments, int64_t new_key, uint32_t row,
                                                  uint64_t position) {
  uint64_t* state = state_row(arguments, arguments.state_rows + new_key);
  for (int w = 0; w < arguments.key_words; ++w) {
    if (!is_tail(arguments.key[w])) continue;
    const int32_t words = words_of_string(string_of_key(arguments.key[w], row));
    if (words > 0) state[w] = position;
    position += words;
  }
}

// Word `number` of the long strings of a row, one behind the other.
static __device__ __forceinline__ uint64_t word_of_new_key(const StateStringsArguments& arguments, uint32_t row,
                                                           uint64_t number) {
  for (int w = 0; w < arguments.key_words; ++w) {
    if (!is_tail(arguments.key[w])) continue;
    const KeyString string = string_of_key(arguments.key[w], row);
    const uint64_t words = words_of_string(string);
    if (number < words) return word_of_string(string, static_cast<int32_t>(number));
    number -= words;
  }
  return 0;
}

}  // namespace millrace

MILLRACE_REPORT_SIZE(StateStringsArguments);

extern "C" __global__ void __launch_bounds__(STRING_THREADS)
    state_strings(const __grid_constant__ StateStringsArguments arguments) {
  __shared__ int32_t tile;
  __shared__ uint64_t warp_sums[WARP];
  __shared__ uint64_t start[STRING_THREADS + 1];  // the first word of each new key in the tile; at the end, their number
  __shared__ uint32_t rows[STRING_THREADS];
  __shared__ int64_t first;                       // the place of the tile's first word
  if (threadIdx.x == 0) tile = atomicAdd(reinterpret_cast<int32_t*>(arguments.next_tile), 1);
  __syncthreads();
  const int64_t new_key = static_cast<int64_t>(tile) * STRING_THREADS + threadIdx.x;
  const bool is_key = new_key < arguments.new_keys;
  const uint32_t row = is_key ? element_of<uint32_t>(arguments.new_rows, new_key) : 0;
  const uint64_t own = is_key ? words_of_new_key(arguments, row) : 0;
  const uint64_t before = exclusive_scan_of_block<STRING_THREADS>(own, warp_sums);
  rows[threadIdx.x] = row;
  start[threadIdx.x] = before;
  if (threadIdx.x == STRING_THREADS - 1) start[STRING_THREADS] = before + own;
  __syncthreads();
  const uint64_t total = start[STRING_THREADS];
  if (warp_of_thread() == 0) {
    const int64_t sum = sum_before_tile(reinterpret_cast<uint64_t*>(arguments.look_back), tile, static_cast<int64_t>(total));
    if (lane_of_thread() == 0) {
      first = arguments.string_words + sum;
      if (tile == arguments.tiles - 1) *reinterpret_cast<volatile uint64_t*>(arguments.added) = sum + total;
    }
  }
  __syncthreads();
  if (is_key) put_places(arguments, new_key, row, first + before);
  for (uint64_t word = threadIdx.x; word < total; word += STRING_THREADS) {
    const int place = place_of_number<STRING_THREADS>(start, word);
    *stored_word(arguments.strings, first + static_cast<int64_t>(word)) =
        word_of_new_key(arguments, rows[place], word - start[place]);
  }
}
