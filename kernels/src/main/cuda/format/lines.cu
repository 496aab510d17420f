// SPDX-License-Identifier: Apache-2.0
// Finds the lines of a text: where each begins, and how many there are.
//
//   lines_find  a block takes a tile of the text; the number of lines in the tiles before comes from the look-back
//
// Bound: memory; the text is read once.
//
// Launch shapes (Java repeats them): LINES_THREADS per block and `tiles` blocks, with LINES_WORDS words of the text per thread.

#include "common/arguments.cuh"
#include "common/block.cuh"
#include "common/look_back.cuh"
#include "text_cursor.cuh"

namespace millrace {

constexpr int LINES_THREADS = 256;
constexpr int LINES_WORDS = 8;  // of a thread

struct LinesArguments {
  uint64_t text;       // the aligned word with the first byte
  uint64_t starts;     // int32 position of each line, counted from the first byte, and the size of the text
  uint64_t look_back;  // a counter and a word per tile, zero before
  uint64_t count;      // mapped host memory: int64 lines
  int32_t first;       // bytes of the first word before the text
  int32_t bytes;       // of the text
  int32_t capacity;    // of the starts; the lines are counted all the same
  int32_t tiles;
};

// The last line may lack its newline.
static __device__ __forceinline__ void finish(const LinesArguments& arguments, int64_t newlines) {
  const char* text = reinterpret_cast<const char*>(arguments.text) + arguments.first;
  int64_t lines = newlines;
  if (text[arguments.bytes - 1] != '\n' && ++lines < arguments.capacity) {
    reinterpret_cast<int32_t*>(arguments.starts)[lines] = arguments.bytes;
  }
  *reinterpret_cast<volatile int64_t*>(arguments.count) = lines;
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(LinesArguments);

extern "C" __global__ void __launch_bounds__(LINES_THREADS) lines_find(const __grid_constant__ LinesArguments arguments) {
  __shared__ uint64_t warp_sums[WARP];
  __shared__ int64_t before_tile;
  __shared__ int32_t tile;
  uint64_t* words_of_look_back = reinterpret_cast<uint64_t*>(arguments.look_back);
  if (threadIdx.x == 0) tile = atomicAdd(reinterpret_cast<int32_t*>(words_of_look_back), 1);
  __syncthreads();
  const uint64_t* text = reinterpret_cast<const uint64_t*>(arguments.text);
  const int64_t end = static_cast<int64_t>(arguments.first) + arguments.bytes;
  const int64_t first_word = tile * static_cast<int64_t>(LINES_THREADS * LINES_WORDS) + threadIdx.x * LINES_WORDS;
  uint64_t newlines[LINES_WORDS];
  int32_t own = 0;
#pragma unroll
  for (int i = 0; i < LINES_WORDS; ++i) {
    const int64_t at = (first_word + i) * WORD_BYTES;
    newlines[i] = at < end ? bytes_equal(text[first_word + i], '\n') : 0;
    if (at == 0) newlines[i] &= ~uint64_t{0} << (arguments.first * 8);
    if (at < end && end - at < WORD_BYTES) newlines[i] &= (uint64_t{1} << ((end - at) * 8)) - 1;
    own += __popcll(newlines[i]);
  }
  int64_t before = exclusive_scan_of_block<LINES_THREADS>(static_cast<uint64_t>(own), warp_sums);
  if (warp_of_thread() == LINES_THREADS / WARP - 1) {
    const int64_t total = __shfl_sync(ALL_LANES, before + own, WARP - 1);
    const int64_t sum_before = sum_before_tile(words_of_look_back + 1, tile, total);
    if (lane_of_thread() == 0) {
      before_tile = sum_before;
      if (tile == arguments.tiles - 1) finish(arguments, sum_before + total);
    }
  }
  __syncthreads();
  before += before_tile;
  int32_t* starts = reinterpret_cast<int32_t*>(arguments.starts);
  if (tile == 0 && threadIdx.x == 0) starts[0] = 0;
#pragma unroll
  for (int i = 0; i < LINES_WORDS; ++i) {
    for (uint64_t left = newlines[i]; left != 0; left &= left - 1) {
      // Behind the newline.
      const int64_t position = (first_word + i) * WORD_BYTES + bytes_below(left) + 1 - arguments.first;
      if (++before < arguments.capacity) starts[before] = static_cast<int32_t>(position);
    }
  }
}
