// SPDX-License-Identifier: Apache-2.0
// The rows of keyed state as columns: the keys, of which state_value_strings.cu writes strings, the values of the accumulators, a kind, and columns with one value.
//
//   state_values  one state row per thread
//
// Bound: memory; a state row is read once, in whole sectors, and neighbouring threads write neighbouring elements.
//
// Launch shape (Java repeats it): STATE_VALUES_THREADS per block and any number of blocks; all lanes of a warp make the
// same number of rounds, and a warp's rows begin at a word of the masks.

#include "common/block.cuh"
#include "state_row.cuh"

namespace millrace {

constexpr int STATE_VALUES_THREADS = 256;
constexpr int MAX_CONSTANTS = 4;

// A column of the result with one 64-bit value in all rows.
struct ConstantColumn {
  uint64_t output;
  int64_t value;
};

// Of key words and accumulated values only what is about the result counts.
struct StateValuesArguments {
  uint64_t chunks;       // as in StateArguments, and likewise below
  uint64_t kinds;        // ChangeKind per row: CHANGE_NONE for a key that is absent
  int64_t first_row;     // of the state: row 0 of the result
  int32_t rows;          // of the result
  int32_t key_words;
  int32_t has_null_word;
  int32_t accumulators;  // words of them
  int32_t row_words;
  int32_t chunk_shift;
  int32_t row_count;
  int32_t constants;
  KeyWord key[MAX_KEY_WORDS];
  AccumulatedValue value[MAX_ACCUMULATOR_WORDS];
  ConstantColumn constant[MAX_CONSTANTS];
};

// Every lane of the warp calls it: the lanes' bits are a word of the mask.
static __device__ __forceinline__ void put_key(const StateValuesArguments& arguments, const uint64_t* state, int64_t row,
                                               bool is_row) {
  const uint64_t nulls = is_row && arguments.has_null_word ? state[arguments.key_words] : 0;
  for (int w = 0; w < arguments.key_words; ++w) {
    const KeyWord& word = arguments.key[w];
    if (is_row && word.output != 0) put_bits(word.output + row * word.stride, word.width, state[w]);
    if (word.output_validity == 0) continue;
    const uint32_t valid = __ballot_sync(ALL_LANES, is_row && !((nulls >> word.null_bit) & 1));
    if (lane_of_thread() == 0) reinterpret_cast<uint32_t*>(word.output_validity)[row / WARP] = valid;
  }
}

static __device__ __forceinline__ void put_values(const StateValuesArguments& arguments, const uint64_t* state,
                                                  int64_t row) {
  const uint64_t* accumulators = state + arguments.key_words + (arguments.has_null_word ? 1 : 0);
  for (int a = 0; a < arguments.accumulators; ++a) put_result(arguments.value[a], row, accumulators[a]);
  const bool is_absent = arguments.row_count != NO_ROW_COUNT && accumulators[arguments.row_count] == 0;
  reinterpret_cast<ChangeKind*>(arguments.kinds)[row] = is_absent ? CHANGE_NONE : CHANGE_INSERT;
  for (int c = 0; c < arguments.constants; ++c) {
    reinterpret_cast<int64_t*>(arguments.constant[c].output)[row] = arguments.constant[c].value;
  }
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(StateValuesArguments);

extern "C" __global__ void __launch_bounds__(STATE_VALUES_THREADS)
    state_values(const __grid_constant__ StateValuesArguments arguments) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * STATE_VALUES_THREADS;
  const int64_t thread = blockIdx.x * static_cast<int64_t>(STATE_VALUES_THREADS) + threadIdx.x;
  for (int64_t first = thread - lane_of_thread(); first < arguments.rows; first += stride) {
    const int64_t row = first + lane_of_thread();
    const bool is_row = row < arguments.rows;
    const uint64_t* state = is_row ? state_row(arguments, arguments.first_row + row) : nullptr;
    put_key(arguments, state, row, is_row);
    if (is_row) put_values(arguments, state, row);
  }
}
