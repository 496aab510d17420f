// SPDX-License-Identifier: Apache-2.0
// Strings of the rows of keyed state, as a column.
//
//   state_value_offsets  the offsets of the strings, and the number of their bytes
//   state_value_bytes    their bytes
//
// Bound: memory. The threads of a block divide the bytes of its strings, not the strings: each warp writes consecutive
// bytes, whatever the lengths are.
//
// Launch shape of both (Java repeats it): `tiles` blocks of VALUE_STRING_THREADS, one state row per thread.

#define MILLRACE_STRING_KEYS
#include "common/block.cuh"
#include "common/look_back.cuh"
#include "state_place.cuh"
#include "state_row.cuh"

namespace millrace {

constexpr int VALUE_STRING_THREADS = 256;

struct StateStringValuesArguments {
  uint64_t chunks;     // as in StateArguments
  uint64_t strings;    // as in StateArguments
  uint64_t offsets;    // int32 per row of the result, and one more
  uint64_t bytes;      // those of the result; only of state_value_bytes
  uint64_t look_back;  // uint64 per tile, zero before; like the next two only of state_value_offsets
  uint64_t next_tile;  // uint32, zero before
  uint64_t total;      // uint64 bytes of the result, on the device or in mapped host memory
  int64_t first_row;   // of the state: row 0 of the result
  int32_t rows;
  int32_t head;        // the word of a state row with the head of the string
  int32_t row_words;   // as in StateArguments
  int32_t chunk_shift;
  int32_t tiles;
  int32_t padding;
};

// Byte `number` of the string whose head is at `head`.
static __device__ __forceinline__ uint8_t byte_of_string(const StateStringValuesArguments& arguments, const uint64_t* head,
                                                         int32_t number) {
  if (static_cast<int32_t>(head[0]) > INLINE_BYTES) {
    const uint64_t word = *stored_word(arguments.strings, static_cast<int64_t>(head[1]) + number / 8);
    return static_cast<uint8_t>(word >> number % 8 * 8);
  }
  if (number < PREFIX_BYTES) return static_cast<uint8_t>(head[0] >> (32 + number * 8));
  return static_cast<uint8_t>(head[1] >> (number - PREFIX_BYTES) * 8);
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(StateStringValuesArguments);

extern "C" __global__ void __launch_bounds__(VALUE_STRING_THREADS)
    state_value_offsets(const __grid_constant__ StateStringValuesArguments arguments) {
  __shared__ int32_t tile;
  __shared__ uint64_t warp_sums[WARP];
  __shared__ uint64_t total;
  __shared__ int64_t before_tile;
  if (threadIdx.x == 0) tile = atomicAdd(reinterpret_cast<int32_t*>(arguments.next_tile), 1);
  __syncthreads();
  const int64_t row = static_cast<int64_t>(tile) * VALUE_STRING_THREADS + threadIdx.x;
  const bool is_row = row < arguments.rows;
  const uint64_t own =
      is_row ? static_cast<uint32_t>(state_row(arguments, arguments.first_row + row)[arguments.head]) : 0;
  const uint64_t before = exclusive_scan_of_block<VALUE_STRING_THREADS>(own, warp_sums);
  if (threadIdx.x == VALUE_STRING_THREADS - 1) total = before + own;
  __syncthreads();
  if (warp_of_thread() == 0) {
    const int64_t sum = sum_before_tile(reinterpret_cast<uint64_t*>(arguments.look_back), tile, static_cast<int64_t>(total));
    if (lane_of_thread() == 0) {
      before_tile = sum;
      if (tile == arguments.tiles - 1) *reinterpret_cast<volatile uint64_t*>(arguments.total) = sum + total;
    }
  }
  __syncthreads();
  int32_t* offsets = reinterpret_cast<int32_t*>(arguments.offsets);
  if (is_row) offsets[row] = static_cast<int32_t>(before_tile + before);
  if (row == arguments.rows - 1) offsets[row + 1] = static_cast<int32_t>(before_tile + before + own);
}

extern "C" __global__ void __launch_bounds__(VALUE_STRING_THREADS)
    state_value_bytes(const __grid_constant__ StateStringValuesArguments arguments) {
  __shared__ int32_t start[VALUE_STRING_THREADS + 1];
  const int64_t first = static_cast<int64_t>(blockIdx.x) * VALUE_STRING_THREADS;
  for (int i = threadIdx.x; i <= VALUE_STRING_THREADS; i += VALUE_STRING_THREADS) {
    start[i] = element_of<int32_t>(arguments.offsets, min(first + i, static_cast<int64_t>(arguments.rows)));
  }
  __syncthreads();
  const int64_t end = start[VALUE_STRING_THREADS];
  for (int64_t byte = static_cast<int64_t>(start[0]) + threadIdx.x; byte < end; byte += VALUE_STRING_THREADS) {
    const int row = place_of_number<VALUE_STRING_THREADS>(start, static_cast<int32_t>(byte));
    const uint64_t* state = state_row(arguments, arguments.first_row + first + row);
    reinterpret_cast<uint8_t*>(arguments.bytes)[byte] =
        byte_of_string(arguments, state + arguments.head, static_cast<int32_t>(byte - start[row]));
  }
}
