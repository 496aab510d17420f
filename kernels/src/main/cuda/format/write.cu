// SPDX-License-Identifier: Apache-2.0
// Columns to records, such as the lines of a text.
//
//   write_measure  counts the bytes of each record, adds them up to positions, and tells the host how many there are
//   write_rows     writes each record at its position
//
// A plan, a sequence of steps, says how a row becomes a record: the kernels know no format. A thread writes a record, both times
// by the same steps, and stores it by words of eight bytes: the records of a warp are neighbours, so that the cache joins what
// their threads store.
//
// Bound: instructions, of a record for micro-batches. Memory is read twice and written once.
//
// Launch shapes (Java repeats them): write_measure with MEASURE_THREADS per block and `tiles` blocks; write_rows with
// WRITE_THREADS per block; both with a thread per row.

#include "common/arguments.cuh"
#include "common/block.cuh"
#include "common/look_back.cuh"
#include "row_writer.cuh"

namespace millrace {

constexpr int MEASURE_THREADS = 256;
constexpr int WRITE_THREADS = 128;

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(WriteStep);
MILLRACE_REPORT_SIZE(WriteColumn);
MILLRACE_REPORT_SIZE(WriteArguments);

extern "C" __global__ void __launch_bounds__(MEASURE_THREADS) write_measure(const __grid_constant__ WriteArguments arguments) {
  __shared__ uint64_t warp_sums[WARP];
  __shared__ int64_t before_tile;
  __shared__ int32_t tile;
  uint64_t* look_back = reinterpret_cast<uint64_t*>(arguments.look_back);
  if (threadIdx.x == 0) tile = atomicAdd(reinterpret_cast<int32_t*>(look_back), 1);
  __syncthreads();
  const int64_t row = int64_t{tile} * MEASURE_THREADS + threadIdx.x;
  const bool is_row = row < arguments.rows;
  TextSink<false> sink = TextSink<false>::at(0, arguments.delimiter);
  if (is_row) write_row(arguments, static_cast<int32_t>(row), sink);
  int64_t before = exclusive_scan_of_block<MEASURE_THREADS>(static_cast<uint64_t>(sink.bytes), warp_sums);
  if (warp_of_thread() == MEASURE_THREADS / WARP - 1) {
    const int64_t total = __shfl_sync(ALL_LANES, before + sink.bytes, WARP - 1);
    const int64_t sum_before = sum_before_tile(look_back + 1, tile, total);
    if (lane_of_thread() == 0) {
      before_tile = sum_before;
      if (tile == arguments.tiles - 1) {
        *reinterpret_cast<int64_t*>(arguments.result) = sum_before + total;
        reinterpret_cast<int32_t*>(arguments.positions)[arguments.rows] = static_cast<int32_t>(sum_before + total);
      }
    }
  }
  __syncthreads();
  if (is_row) reinterpret_cast<int32_t*>(arguments.positions)[row] = static_cast<int32_t>(before + before_tile);
}

extern "C" __global__ void __launch_bounds__(WRITE_THREADS) write_rows(const __grid_constant__ WriteArguments arguments) {
  const int64_t row = int64_t{blockIdx.x} * WRITE_THREADS + threadIdx.x;
  if (row >= arguments.rows) return;
  const uint64_t start = arguments.bytes + static_cast<uint64_t>(element_of<int32_t>(arguments.positions, row));
  TextSink<true> sink = TextSink<true>::at(start, arguments.delimiter);
  write_row(arguments, static_cast<int32_t>(row), sink);
  sink.finish();
}
