// SPDX-License-Identifier: Apache-2.0
// The slices of time that the rows of a batch belong to.
//
//   slice_range    the first and the last time of all rows
//   slice_numbers  the number of each row's slice, counted from the slice of the first time
//   slice_starts   the first time of each row's slice
//
// Bound: memory; each reads the times once. Most batches need slice_range alone: all their rows are in one slice.
//
// Launch shapes (Java repeats them): SLICE_THREADS per block and any number of blocks.

#include "common/block.cuh"
#include "common/element.cuh"

namespace millrace {

constexpr int SLICE_THREADS = 256;
constexpr uint64_t SIGN = 0x8000000000000000ull;

struct SliceRangeArguments {
  uint64_t times;    // int64 per row
  uint64_t scratch;  // three uint64, zero before: the largest, the largest complement, blocks that are done
  uint64_t result;   // mapped host memory: int64 first, int64 last
  int64_t rows;      // at least 1
};

struct SliceNumbersArguments {
  uint64_t times;    // int64 per row, at least `start`
  uint64_t numbers;  // int32 per row
  int64_t rows;
  int64_t start;     // of slice 0
  int64_t width;     // of a slice
};

struct SliceStartsArguments {
  uint64_t times;   // int64 per row, at least `start`
  uint64_t starts;  // int64 per row
  int64_t rows;
  int64_t start;    // of a slice
  int64_t width;    // of a slice
};

// The largest value of the block, in its first warp. Every thread calls it.
static __device__ __forceinline__ uint64_t largest_of_block(uint64_t value) {
  __shared__ uint64_t warps[SLICE_THREADS / WARP];
  for (int distance = WARP / 2; distance > 0; distance /= 2) {
    value = max(value, __shfl_xor_sync(ALL_LANES, value, distance));
  }
  if (lane_of_thread() == 0) warps[warp_of_thread()] = value;
  __syncthreads();
  value = lane_of_thread() < SLICE_THREADS / WARP ? warps[lane_of_thread()] : 0;
  for (int distance = WARP / 2; distance > 0; distance /= 2) {
    value = max(value, __shfl_xor_sync(ALL_LANES, value, distance));
  }
  __syncthreads();
  return value;
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(SliceRangeArguments);
MILLRACE_REPORT_SIZE(SliceNumbersArguments);
MILLRACE_REPORT_SIZE(SliceStartsArguments);

// Signed times become unsigned numbers in the same order, whose smallest is zero.
extern "C" __global__ void __launch_bounds__(SLICE_THREADS)
    slice_range(const __grid_constant__ SliceRangeArguments arguments) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * SLICE_THREADS;
  uint64_t largest = 0;
  uint64_t largest_complement = 0;
  for (int64_t row = blockIdx.x * static_cast<int64_t>(SLICE_THREADS) + threadIdx.x; row < arguments.rows; row += stride) {
    const uint64_t ordered = element_of<uint64_t>(arguments.times, row) ^ SIGN;
    largest = max(largest, ordered);
    largest_complement = max(largest_complement, ~ordered);
  }
  largest = largest_of_block(largest);
  largest_complement = largest_of_block(largest_complement);
  if (threadIdx.x != 0) return;
  unsigned long long* scratch = reinterpret_cast<unsigned long long*>(arguments.scratch);
  atomicMax(scratch, static_cast<unsigned long long>(largest));
  atomicMax(scratch + 1, static_cast<unsigned long long>(largest_complement));
  __threadfence();
  if (atomicAdd(scratch + 2, 1ull) != gridDim.x - 1) return;
  __threadfence();
  volatile uint64_t* result = reinterpret_cast<volatile uint64_t*>(arguments.result);
  result[0] = ~atomicMax(scratch + 1, 0ull) ^ SIGN;
  result[1] = atomicMax(scratch, 0ull) ^ SIGN;
}

extern "C" __global__ void __launch_bounds__(SLICE_THREADS)
    slice_numbers(const __grid_constant__ SliceNumbersArguments arguments) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * SLICE_THREADS;
  int32_t* numbers = reinterpret_cast<int32_t*>(arguments.numbers);
  for (int64_t row = blockIdx.x * static_cast<int64_t>(SLICE_THREADS) + threadIdx.x; row < arguments.rows; row += stride) {
    const int64_t time = element_of<int64_t>(arguments.times, row);
    const uint64_t distance = static_cast<uint64_t>(time) - static_cast<uint64_t>(arguments.start);
    numbers[row] = static_cast<int32_t>(distance / static_cast<uint64_t>(arguments.width));
  }
}

extern "C" __global__ void __launch_bounds__(SLICE_THREADS)
    slice_starts(const __grid_constant__ SliceStartsArguments arguments) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * SLICE_THREADS;
  int64_t* starts = reinterpret_cast<int64_t*>(arguments.starts);
  for (int64_t row = blockIdx.x * static_cast<int64_t>(SLICE_THREADS) + threadIdx.x; row < arguments.rows; row += stride) {
    const int64_t time = element_of<int64_t>(arguments.times, row);
    starts[row] = time - (time - arguments.start) % arguments.width;
  }
}
