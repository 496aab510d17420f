// SPDX-License-Identifier: Apache-2.0
// Finds the lines of a text: where each begins, and how many there are.
//
//   lines_find         a block takes a tile of the text; the number of lines in the tiles before comes from the look-back
//   lines_find_quoted  as lines_find, but line feeds within quotes end no line: whether a tile begins within quotes comes from
//                      a look-back of its own
//
// Bound: memory; the text is read once. lines_find_quoted: instructions, for texts of short fields.
//
// Launch shapes (Java repeats them): LINES_THREADS per block and `tiles` blocks, with LINES_WORDS words of the text per thread.

#include "common/arguments.cuh"
#include "common/block.cuh"
#include "common/look_back.cuh"
#include "line_state.cuh"

namespace millrace {

constexpr int LINES_THREADS = 256;
constexpr int LINES_WORDS = 8;  // of a thread

struct LinesArguments {
  uint64_t text;       // the aligned word with the first byte
  uint64_t starts;     // int32 position of each line, counted from the first byte, and the size of the text
  uint64_t look_back;  // a counter and a word per tile, zero before; lines_find_quoted has two words per tile
  uint64_t count;      // mapped host memory: int64 lines
  int32_t first;       // bytes of the first word before the text
  int32_t bytes;       // of the text
  int32_t capacity;    // of the starts; the lines are counted all the same
  int32_t tiles;
  int32_t delimiter;   // of lines_find_quoted, as quote and escape; NO_CHARACTER if there is none
  int32_t quote;
  int32_t escape;
  int32_t unused;
};

constexpr int LINES_WARPS = LINES_THREADS / WARP;

// The words of a thread: zeros where the text is not.
struct LineWords {
  int64_t first_word;
  uint64_t mask[LINES_WORDS];  // the highest bit of each byte of the text
};

static __device__ __forceinline__ LineWords words_of_thread(const LinesArguments& arguments, int32_t tile) {
  LineWords words;
  const int64_t end = static_cast<int64_t>(arguments.first) + arguments.bytes;
  words.first_word = tile * static_cast<int64_t>(LINES_THREADS * LINES_WORDS) + threadIdx.x * LINES_WORDS;
#pragma unroll
  for (int i = 0; i < LINES_WORDS; ++i) {
    const int64_t at = (words.first_word + i) * WORD_BYTES;
    words.mask[i] = at < end ? NOT_ASCII : 0;
    if (at == 0) words.mask[i] &= ~uint64_t{0} << (arguments.first * 8);
    if (at < end && end - at < WORD_BYTES) words.mask[i] &= (uint64_t{1} << ((end - at) * 8)) - 1;
  }
  return words;
}

// Writes the number of lines, and where the last one ends if it lacks its newline.
static __device__ __forceinline__ void finish(const LinesArguments& arguments, int64_t newlines, bool is_ended) {
  int64_t lines = newlines;
  if (!is_ended && ++lines < arguments.capacity) reinterpret_cast<int32_t*>(arguments.starts)[lines] = arguments.bytes;
  *reinterpret_cast<volatile int64_t*>(arguments.count) = lines;
}

// Writes the lines that begin behind newlines of a thread; `before` newlines are in front of them.
static __device__ __forceinline__ void put_starts(const LinesArguments& arguments, int64_t first_word,
                                                  const uint64_t (&newlines)[LINES_WORDS], int64_t before) {
  int32_t* starts = reinterpret_cast<int32_t*>(arguments.starts);
  if (first_word == 0) starts[0] = 0;
#pragma unroll
  for (int i = 0; i < LINES_WORDS; ++i) {
    for (uint64_t left = newlines[i]; left != 0; left &= left - 1) {
      const int64_t position = (first_word + i) * WORD_BYTES + bytes_below(left) + 1 - arguments.first;
      if (++before < arguments.capacity) starts[before] = static_cast<int32_t>(position);
    }
  }
}

// The bytes of a word that change the state of a line otherwise than others.
static __device__ __forceinline__ uint64_t special_bytes(const LinesArguments& arguments, uint64_t word) {
  return bytes_equal(word, '\n') | bytes_equal(word, static_cast<char>(arguments.delimiter)) |
         bytes_equal(word, static_cast<char>(arguments.quote)) | bytes_equal(word, static_cast<char>(arguments.escape));
}

static __device__ __forceinline__ uint32_t step_of(const LinesArguments& arguments, int32_t byte) {
  if (byte == '\n') return LINE_FEED;
  if (byte == arguments.delimiter) return LINE_DELIMITER;
  if (byte == arguments.quote) return LINE_QUOTE;
  return byte == arguments.escape ? LINE_ESCAPE : LINE_OTHER;
}

// What the bytes of a word do to the state in front of them. Calls `newline(state, bit)` for each newline.
template <typename Newline>
static __device__ __forceinline__ uint32_t steps_of_word(const LinesArguments& arguments, uint64_t word, uint64_t mask,
                                                         uint32_t before, Newline newline) {
  uint32_t steps = before;
  uint64_t others = mask;
  for (uint64_t left = special_bytes(arguments, word) & mask; left != 0; left &= left - 1) {
    const uint64_t bit = left & (0 - left);
    if ((others & (bit - 1)) != 0) steps = then(steps, LINE_OTHER);
    others &= ~(bit - 1) ^ bit;
    const int32_t byte = static_cast<int32_t>(word >> (bytes_below(bit) * 8) & 0xff);
    if (byte == '\n') newline(steps, bit);
    steps = then(steps, step_of(arguments, byte));
  }
  return others == 0 ? steps : then(steps, LINE_OTHER);
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
  const LineWords words = words_of_thread(arguments, tile);
  uint64_t newlines[LINES_WORDS];
  int32_t own = 0;
#pragma unroll
  for (int i = 0; i < LINES_WORDS; ++i) {
    newlines[i] = words.mask[i] == 0 ? 0 : bytes_equal(text[words.first_word + i], '\n') & words.mask[i];
    own += __popcll(newlines[i]);
  }
  int64_t before = exclusive_scan_of_block<LINES_THREADS>(static_cast<uint64_t>(own), warp_sums);
  if (warp_of_thread() == LINES_WARPS - 1) {
    const int64_t total = __shfl_sync(ALL_LANES, before + own, WARP - 1);
    const int64_t sum_before = sum_before_tile(words_of_look_back + 1, tile, total);
    if (lane_of_thread() == 0) {
      before_tile = sum_before;
      const char last = reinterpret_cast<const char*>(arguments.text)[static_cast<int64_t>(arguments.first) + arguments.bytes - 1];
      if (tile == arguments.tiles - 1) finish(arguments, sum_before + total, last == '\n');
    }
  }
  __syncthreads();
  put_starts(arguments, words.first_word, newlines, before + before_tile);
}

extern "C" __global__ void __launch_bounds__(LINES_THREADS) lines_find_quoted(const __grid_constant__ LinesArguments arguments) {
  __shared__ uint64_t warp_sums[WARP];
  __shared__ uint32_t warp_steps[LINES_WARPS];
  __shared__ uint32_t state_of_tile;
  __shared__ int64_t before_tile;
  __shared__ int32_t tile;
  __shared__ bool is_ended;
  uint64_t* words_of_look_back = reinterpret_cast<uint64_t*>(arguments.look_back);
  if (threadIdx.x == 0) {
    tile = atomicAdd(reinterpret_cast<int32_t*>(words_of_look_back), 1);
    is_ended = false;
  }
  __syncthreads();
  const LineWords words = words_of_thread(arguments, tile);
  uint64_t text[LINES_WORDS];
  uint32_t steps = LINE_SAME;
#pragma unroll
  for (int i = 0; i < LINES_WORDS; ++i) {
    text[i] = words.mask[i] == 0 ? 0 : reinterpret_cast<const uint64_t*>(arguments.text)[words.first_word + i];
    steps = steps_of_word(arguments, text[i], words.mask[i], steps, [](uint32_t, uint64_t) {});
  }
  uint32_t total_steps;
  uint32_t before_thread = steps_before_thread<LINES_WARPS>(steps, warp_steps, total_steps);
  if (warp_of_thread() == 0) {
    const uint32_t state = state_before_tile(words_of_look_back + 1, tile, total_steps);
    if (lane_of_thread() == 0) state_of_tile = state;
  }
  __syncthreads();
  steps = then(always(state_of_tile), before_thread);
  uint64_t newlines[LINES_WORDS];
  int32_t own = 0;
  const int64_t last_byte = static_cast<int64_t>(arguments.first) + arguments.bytes - 1 - words.first_word * WORD_BYTES;
#pragma unroll
  for (int i = 0; i < LINES_WORDS; ++i) {
    uint64_t ends = 0;
    steps = steps_of_word(arguments, text[i], words.mask[i], steps, [&ends](uint32_t before, uint64_t bit) {
      if (!is_quoted(state_after(before))) ends |= bit;
    });
    newlines[i] = ends;
    own += __popcll(ends);
    if (last_byte / WORD_BYTES == i && last_byte >= 0 && (ends >> (last_byte % WORD_BYTES * 8 + 7) & 1) != 0) is_ended = true;
  }
  int64_t before = exclusive_scan_of_block<LINES_THREADS>(static_cast<uint64_t>(own), warp_sums);
  if (warp_of_thread() == LINES_WARPS - 1) {
    const int64_t total = __shfl_sync(ALL_LANES, before + own, WARP - 1);
    const int64_t sum_before = sum_before_tile(words_of_look_back + 1 + arguments.tiles, tile, total);
    if (lane_of_thread() == 0) {
      before_tile = sum_before;
      if (tile == arguments.tiles - 1) finish(arguments, sum_before + total, is_ended);
    }
  }
  __syncthreads();
  put_starts(arguments, words.first_word, newlines, before + before_tile);
}
