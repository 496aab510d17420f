// SPDX-License-Identifier: Apache-2.0
// The rows of keyed state whose times are in a range, or of which one of some words is not zero.
//
//   state_select  counts the rows of a chunk, and the words of their long strings; and copies the rows, one behind the other in
//                 their order, and adds a number to a word of each copy
//
// Bound: memory; the sectors of the words are read, and the whole row if it is copied.
//
// Launch shape (Java repeats it): `tiles` blocks of STATE_SELECT_THREADS, one row per thread.

#include "common/block.cuh"
#include "common/look_back.cuh"
#include "state_slots.cuh"

namespace millrace {

constexpr int STATE_SELECT_THREADS = 256;
constexpr int ROWS_BITS = 18;  // of the number of rows in a word of the look-back, below the number of words of strings
constexpr uint64_t ROWS_OF_COUNTS = (uint64_t{1} << ROWS_BITS) - 1;

struct StateSelectArguments {
  uint64_t chunks;      // as in StateArguments
  uint64_t target;      // where the rows are copied to; 0: they are only counted
  uint64_t look_back;   // uint64 per tile, zero before
  uint64_t next_tile;   // uint32, zero before
  uint64_t counts;      // mapped host memory: uint64 rows, uint64 words of their long strings
  uint64_t first;       // a row is selected if one of its words, such as its time, xor mask, is at least this,
  uint64_t end;         // and less than this; where zeros are not selected, mask and end are all ones and first is 0
  uint64_t mask;
  int64_t first_row;    // of the state
  int64_t words;        // how many words there are from first_word on
  int64_t added;        // to first_word of the copies
  int32_t rows;         // from first_row on, up to those of a chunk
  int32_t row_words;    // as in StateArguments
  int32_t chunk_shift;
  int32_t first_word;   // of a state row: the first word that decides
  int32_t tiles;
  uint32_t tails;       // bit w is set if word w of a state row is the tail of a string
};

static __device__ __forceinline__ bool is_selected(const StateSelectArguments& arguments, const uint64_t* state) {
  for (int64_t i = 0; i < arguments.words; ++i) {
    const uint64_t word = state[arguments.first_word + i] ^ arguments.mask;
    if (word >= arguments.first && word < arguments.end) return true;
  }
  return false;
}

static __device__ __forceinline__ uint64_t string_words_of_row(const StateSelectArguments& arguments, const uint64_t* state) {
  uint64_t words = 0;
  for (uint32_t left = arguments.tails; left != 0; left &= left - 1) {
    // The head is the word before the tail.
    const int32_t length = static_cast<int32_t>(state[__ffs(left) - 2]);
    if (length > INLINE_BYTES) words += (static_cast<uint32_t>(length) + 7) / 8;
  }
  return words;
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(StateSelectArguments);

extern "C" __global__ void __launch_bounds__(STATE_SELECT_THREADS)
    state_select(const __grid_constant__ StateSelectArguments arguments) {
  __shared__ int32_t tile;
  __shared__ uint64_t warp_sums[WARP];
  __shared__ uint64_t total;
  __shared__ uint64_t before_tile;
  if (threadIdx.x == 0) tile = atomicAdd(slot_of<int32_t>(arguments.next_tile, 0), 1);
  __syncthreads();
  const int32_t row = tile * STATE_SELECT_THREADS + static_cast<int32_t>(threadIdx.x);
  const uint64_t* state = row < arguments.rows ? state_row(arguments, arguments.first_row + row) : nullptr;
  const bool is_row = state != nullptr && is_selected(arguments, state);
  const uint64_t own = is_row ? 1 | string_words_of_row(arguments, state) << ROWS_BITS : 0;
  const uint64_t before = exclusive_scan_of_block<STATE_SELECT_THREADS>(own, warp_sums);
  if (threadIdx.x == STATE_SELECT_THREADS - 1) total = before + own;
  __syncthreads();
  if (warp_of_thread() == 0) {
    const uint64_t sum = sum_before_tile(slot_of<uint64_t>(arguments.look_back, 0), tile, static_cast<int64_t>(total));
    if (lane_of_thread() == 0) {
      before_tile = sum;
      if (tile == arguments.tiles - 1) {
        *slot_of<volatile uint64_t>(arguments.counts, 0) = (sum + total) & ROWS_OF_COUNTS;
        *slot_of<volatile uint64_t>(arguments.counts, 1) = (sum + total) >> ROWS_BITS;
      }
    }
  }
  __syncthreads();
  if (!is_row || arguments.target == 0) return;
  const int64_t place = static_cast<int64_t>((before_tile + before) & ROWS_OF_COUNTS);
  const ulonglong2* source = reinterpret_cast<const ulonglong2*>(state);
  ulonglong2* target = slot_of<ulonglong2>(arguments.target, place * (arguments.row_words / 2));
  for (int32_t i = 0; i < arguments.row_words / 2; ++i) target[i] = source[i];
  if (arguments.added != 0) reinterpret_cast<uint64_t*>(target)[arguments.first_word] += arguments.added;
}
