// SPDX-License-Identifier: Apache-2.0
// Long strings of values of keyed state.
//
//   state_moves       stores strings one behind the other in the order of their moves, and their places in tails; and counts
//                     their words, and how many there are of each number of bits of the length
//   state_moves_fill  writes a move for each string of state rows
//
// Bound: memory. The threads of a block divide the words of its strings, not the strings: each thread writes words at
// consecutive places, whatever the lengths are.
//
// Launch shapes (Java repeats them): state_moves `tiles` blocks of MOVES_THREADS, one move per thread; state_moves_fill
// MOVES_THREADS per block and a thread per state row.

#include "common/block.cuh"
#include "common/look_back.cuh"
#include "state_move.cuh"
#include "state_place.cuh"
#include "state_slots.cuh"

namespace millrace {

constexpr int MOVES_THREADS = 256;
constexpr int TAILS_BITS = 64;

struct StateMovesArguments {
  uint64_t moves;      // StringMove each
  uint64_t strings;    // uint64 per chunk of the words that strings are added to: its address; 0: they are only counted
  uint64_t counts;     // uint64 words, and 33 uint64: strings of each number of bits of the length; zero before
  uint64_t look_back;  // uint64 per tile; zero before
  uint64_t next_tile;  // uint32; zero before
  int64_t first_word;  // the place of the first string
  int32_t count;
  int32_t tiles;
};

struct StateFillArguments {
  uint64_t moves;       // StringMove for each string of each row
  uint64_t chunks;      // as in StateArguments
  uint64_t strings;     // as in StateArguments, of values
  int64_t first_row;    // of the state
  uint64_t tails;       // bit w is set if word w of a state row is the tail of a string
  uint64_t more_tails;  // likewise of word 64 + w
  int32_t rows;
  int32_t row_words;    // as in StateArguments
  int32_t chunk_shift;
  int32_t tail_count;
};

static __device__ __forceinline__ void count_string(const StateMovesArguments& arguments, int32_t length) {
  atomicAdd(slot_of<unsigned long long>(arguments.counts, 1 + (32 - __clz(length))), 1ull);
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(StringMove);
MILLRACE_REPORT_SIZE(StringPiece);
MILLRACE_REPORT_SIZE(StateMovesArguments);
MILLRACE_REPORT_SIZE(StateFillArguments);

extern "C" __global__ void __launch_bounds__(MOVES_THREADS)
    state_moves(const __grid_constant__ StateMovesArguments arguments) {
  __shared__ int32_t tile;
  __shared__ uint64_t warp_sums[WARP];
  __shared__ uint64_t start[MOVES_THREADS + 1];  // the first word of each string in the tile; at the end, their number
  __shared__ StringMove moves[MOVES_THREADS];
  __shared__ int64_t first;                      // the place of the tile's first word
  if (threadIdx.x == 0) tile = atomicAdd(reinterpret_cast<int32_t*>(arguments.next_tile), 1);
  __syncthreads();
  const int64_t number = static_cast<int64_t>(tile) * MOVES_THREADS + threadIdx.x;
  const bool is_move = number < arguments.count;
  const StringMove move = is_move ? element_of<StringMove>(arguments.moves, number) : StringMove{};
  const uint64_t own = static_cast<uint64_t>(words_of_string({move.source, move.length, move.chunks}));
  const uint64_t before = exclusive_scan_of_block<MOVES_THREADS>(own, warp_sums);
  if (own > 0) count_string(arguments, move.length);
  moves[threadIdx.x] = move;
  start[threadIdx.x] = before;
  if (threadIdx.x == MOVES_THREADS - 1) start[MOVES_THREADS] = before + own;
  __syncthreads();
  const uint64_t total = start[MOVES_THREADS];
  if (warp_of_thread() == 0) {
    const int64_t sum = sum_before_tile(reinterpret_cast<uint64_t*>(arguments.look_back), tile, static_cast<int64_t>(total));
    if (lane_of_thread() == 0) {
      first = arguments.first_word + sum;
      if (tile == arguments.tiles - 1) *reinterpret_cast<uint64_t*>(arguments.counts) = sum + total;
    }
  }
  __syncthreads();
  if (arguments.strings == 0) return;
  for (uint64_t word = threadIdx.x; word < total; word += MOVES_THREADS) {
    const int place = place_of_number<MOVES_THREADS>(start, word);
    *stored_word(arguments.strings, first + static_cast<int64_t>(word)) =
        word_of_move(moves[place], static_cast<int32_t>(word - start[place]));
  }
  // The first part of a string may lie in its tail.
  __syncthreads();
  if (own > 0) {
    const uint64_t place = static_cast<uint64_t>(first) + before;
    *reinterpret_cast<uint64_t*>(move.tail) = place;
    if (move.other_tail != 0) *reinterpret_cast<uint64_t*>(move.other_tail) = place;
  }
}

extern "C" __global__ void __launch_bounds__(MOVES_THREADS)
    state_moves_fill(const __grid_constant__ StateFillArguments arguments) {
  const int64_t row = blockIdx.x * static_cast<int64_t>(MOVES_THREADS) + threadIdx.x;
  if (row >= arguments.rows) return;
  uint64_t* state = state_row(arguments, arguments.first_row + row);
  StringMove* move = slot_of<StringMove>(arguments.moves, row * arguments.tail_count);
  for (int half = 0; half < 2; ++half) {
    for (uint64_t left = half == 0 ? arguments.tails : arguments.more_tails; left != 0; left &= left - 1) {
      uint64_t* tail = state + half * TAILS_BITS + __ffsll(static_cast<long long>(left)) - 1;
      const int32_t length = static_cast<int32_t>(tail[-1]);
      *move = {tail[0], arguments.strings, reinterpret_cast<uint64_t>(tail), 0, length > INLINE_BYTES ? length : 0, length,
               0,       0,                 0};
      ++move;
    }
  }
}
