// SPDX-License-Identifier: Apache-2.0
// Sessions in state tables of slices of time, or in one table with the start of a row's slice in its key: a row has the first
// and the last time of a session of its key.
//
//   session_select  copies rows of a chunk whose last time has passed, one behind the other in their order: those whose
//                   session goes on in a row of a later slice whose last time has not, or the others; counts all of them.
//                   With a table for each slice, this is a row of the next slice. In one table, a session goes from row to
//                   row of next slices; the copies have the start of the last one that has passed, or of that later slice
//   session_clear   makes these rows rows of no session, with zeros for all accumulators
//   session_touch   finds the rows of a batch that touch the session of their key
//
// Bound: memory; session_select reads the sector of the last time, and for rows whose last time has passed the index and a
// row of the next slice.
//
// Launch shapes (Java repeats them): SESSION_THREADS per block, one row per thread; session_select with `tiles` blocks.

// Keys may have strings.
#define MILLRACE_STRING_KEYS

#include "common/block.cuh"
#include "common/look_back.cuh"
#include "state_find.cuh"

namespace millrace {

constexpr int SESSION_THREADS = 256;
constexpr int SESSION_ROWS_BITS = 18;  // of the number of rows in a word of the look-back, below the words of strings
constexpr uint64_t SESSION_ROWS = (uint64_t{1} << SESSION_ROWS_BITS) - 1;

// The first members of arguments with a table in which keys are looked up; as in StateArguments. The key is that of rows of
// another table in session_select, where the null word is a word like the others, and that of the batch in session_touch.
struct SessionSelectArguments {
  uint64_t index;       // 0: there is no next slice
  uint64_t chunks;
  uint64_t strings;
  int64_t index_buckets;
  uint64_t source;      // the first row
  uint64_t target;      // where rows are copied to
  uint64_t scratch;     // SessionScratch, zero before
  uint64_t starts;      // int64 per row: the start of the slice whose row is looked up, a word of its key; 0: a table a slice
  uint64_t last_time;   // the word of a time: rows with a later last time are in open sessions
  int64_t gap;
  int32_t key_words;
  int32_t has_null_word;
  int32_t row_words;
  int32_t chunk_shift;
  int32_t rows;         // up to those of a chunk
  int32_t tiles;
  int32_t last_word;    // of a state row: the last time, a maximum; 0 in rows of no session
  int32_t first_word;   // the first time, a minimum
  uint32_t tails;       // bit w is set if word w of a state row is the tail of a string
  int32_t continued;    // whether the rows are copied whose session goes on, or the others
  int32_t start_word;   // of a state row: the start of its slice, if there are `starts`
  int32_t padding;
  KeyWord key[MAX_KEY_WORDS];
};

struct SessionClearArguments {
  uint64_t source;       // the first row
  uint64_t page_epochs;  // as in StateArguments, and likewise below
  uint64_t epoch;
  uint64_t last_time;    // as in SessionSelectArguments
  int64_t first_row;     // the number of the first row
  int32_t rows;
  int32_t row_words;
  int32_t first_accumulator;
  int32_t last_word;
  int32_t chunk_shift;
  int32_t padding;
};

struct SessionTouchArguments {
  uint64_t index;
  uint64_t chunks;
  uint64_t strings;
  int64_t index_buckets;
  uint64_t times;    // int64 per row
  uint64_t numbers;  // int32 per row: set to `number` if it is 0 and the row touches the session of its key
  int64_t gap;
  int32_t key_words;
  int32_t has_null_word;
  int32_t row_words;
  int32_t chunk_shift;
  int32_t rows;
  int32_t number;
  int32_t last_word;
  int32_t first_word;
  KeyWord key[MAX_KEY_WORDS];
};

// Scratch memory of session_select, with a word of the look-back for each tile behind it. Java reads the counts.
struct SessionScratch {
  uint64_t selected;
  uint64_t string_words;
  unsigned long long others;       // rows whose last time has passed, but which are not copied
  unsigned long long least_open;   // the complement of the least word of a last time that has not passed; 0: there is none
  uint64_t next_tile;              // its low half
};

// The row of the session of a row's key in the table, if it begins at most the gap behind a time; null otherwise.
template <typename Arguments>
static __device__ __forceinline__ const uint64_t* touched_session(const Arguments& arguments, int64_t row, int64_t time) {
  int64_t number;
  const uint64_t* state = find_row(arguments, row, number);
  if (state == nullptr || state[arguments.last_word] == 0) return nullptr;
  const int64_t first = static_cast<int64_t>(~state[arguments.first_word] ^ SIGN_BIT);
  const bool touches =
      first <= time || static_cast<uint64_t>(first) - static_cast<uint64_t>(time) <= static_cast<uint64_t>(arguments.gap);
  return touches ? state : nullptr;
}

enum SessionClass : int32_t { SESSION_NONE, SESSION_OPEN, SESSION_OTHER, SESSION_SELECTED };

static __device__ __forceinline__ int64_t time_of_word(uint64_t word) { return static_cast<int64_t>(word ^ SIGN_BIT); }

// Whether a row's session goes on behind the rows whose last times have passed. Leaves the start of the slice to which the
// row goes in `starts`.
static __device__ __forceinline__ bool goes_on_in_table(const SessionSelectArguments& arguments, int32_t row,
                                                        const uint64_t* state) {
  int64_t* start = slot_of<int64_t>(arguments.starts, row);
  int64_t slice = static_cast<int64_t>(state[arguments.start_word]);
  for (;;) {
    *start = slice + arguments.gap;
    state = touched_session(arguments, row, time_of_word(state[arguments.last_word]));
    if (state == nullptr) break;
    slice += arguments.gap;
    if (state[arguments.last_word] > arguments.last_time) break;
  }
  *start = slice;
  return state != nullptr;
}

static __device__ __forceinline__ SessionClass class_of_row(const SessionSelectArguments& arguments, int32_t row,
                                                            const uint64_t* state) {
  const uint64_t last = state[arguments.last_word];
  if (last == 0) return SESSION_NONE;
  if (last > arguments.last_time) return SESSION_OPEN;
  const bool goes_on =
      arguments.starts != 0 ? goes_on_in_table(arguments, row, state)
                            : arguments.index != 0 && touched_session(arguments, row, time_of_word(last)) != nullptr;
  return goes_on == (arguments.continued != 0) ? SESSION_SELECTED : SESSION_OTHER;
}

static __device__ __forceinline__ uint64_t string_words_of_state(const SessionSelectArguments& arguments,
                                                                 const uint64_t* state) {
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

MILLRACE_REPORT_SIZE(SessionSelectArguments);
MILLRACE_REPORT_SIZE(SessionClearArguments);
MILLRACE_REPORT_SIZE(SessionTouchArguments);

extern "C" __global__ void __launch_bounds__(SESSION_THREADS)
    session_select(const __grid_constant__ SessionSelectArguments arguments) {
  __shared__ int32_t tile;
  __shared__ uint64_t warp_sums[WARP];
  __shared__ uint64_t total;
  __shared__ uint64_t before_tile;
  __shared__ unsigned long long least_open;
  __shared__ unsigned long long others;
  SessionScratch* scratch = slot_of<SessionScratch>(arguments.scratch, 0);
  if (threadIdx.x == 0) {
    tile = atomicAdd(reinterpret_cast<int32_t*>(&scratch->next_tile), 1);
    least_open = 0;
    others = 0;
  }
  __syncthreads();
  const int32_t row = tile * SESSION_THREADS + static_cast<int32_t>(threadIdx.x);
  const uint64_t* state = slot_of<const uint64_t>(arguments.source, static_cast<int64_t>(row) * arguments.row_words);
  const SessionClass kind = row < arguments.rows ? class_of_row(arguments, row, state) : SESSION_NONE;
  if (kind == SESSION_OPEN) atomicMax(&least_open, ~static_cast<unsigned long long>(state[arguments.last_word]));
  if (kind == SESSION_OTHER) atomicAdd(&others, 1ull);
  const bool is_selected = kind == SESSION_SELECTED;
  const uint64_t own = is_selected ? 1 | string_words_of_state(arguments, state) << SESSION_ROWS_BITS : 0;
  const uint64_t before = exclusive_scan_of_block<SESSION_THREADS>(own, warp_sums);
  if (threadIdx.x == SESSION_THREADS - 1) total = before + own;
  __syncthreads();
  if (threadIdx.x == 0) {
    if (least_open != 0) atomicMax(&scratch->least_open, least_open);
    if (others != 0) atomicAdd(&scratch->others, others);
  }
  if (warp_of_thread() == 0) {
    const uint64_t sum = sum_before_tile(reinterpret_cast<uint64_t*>(scratch + 1), tile, static_cast<int64_t>(total));
    if (lane_of_thread() == 0) {
      before_tile = sum;
      if (tile == arguments.tiles - 1) {
        scratch->selected = (sum + total) & SESSION_ROWS;
        scratch->string_words = (sum + total) >> SESSION_ROWS_BITS;
      }
    }
  }
  __syncthreads();
  if (!is_selected) return;
  const int64_t place = static_cast<int64_t>((before_tile + before) & SESSION_ROWS);
  const ulonglong2* source = reinterpret_cast<const ulonglong2*>(state);
  ulonglong2* target = slot_of<ulonglong2>(arguments.target, place * (arguments.row_words / 2));
  for (int32_t i = 0; i < arguments.row_words / 2; ++i) target[i] = source[i];
  if (arguments.starts != 0) {
    reinterpret_cast<uint64_t*>(target)[arguments.start_word] = element_of<uint64_t>(arguments.starts, row);
  }
}

extern "C" __global__ void __launch_bounds__(SESSION_THREADS)
    session_clear(const __grid_constant__ SessionClearArguments arguments) {
  const int64_t row = blockIdx.x * static_cast<int64_t>(SESSION_THREADS) + threadIdx.x;
  if (row >= arguments.rows) return;
  uint64_t* state = slot_of<uint64_t>(arguments.source, row * arguments.row_words);
  const uint64_t last = state[arguments.last_word];
  if (last == 0 || last > arguments.last_time) return;
  for (int32_t w = arguments.first_accumulator; w < arguments.row_words; ++w) state[w] = 0;
  const int64_t page = (arguments.first_row + row) >> (arguments.chunk_shift - PAGES_SHIFT);
  *slot_of<uint64_t>(arguments.page_epochs, page) = arguments.epoch;
}

extern "C" __global__ void __launch_bounds__(SESSION_THREADS)
    session_touch(const __grid_constant__ SessionTouchArguments arguments) {
  const int64_t row = blockIdx.x * static_cast<int64_t>(SESSION_THREADS) + threadIdx.x;
  if (row >= arguments.rows) return;
  int32_t* number = slot_of<int32_t>(arguments.numbers, row);
  if (*number == 0 && touched_session(arguments, row, element_of<int64_t>(arguments.times, row)) != nullptr) {
    *number = arguments.number;
  }
}
