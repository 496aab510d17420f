// SPDX-License-Identifier: Apache-2.0
// Decompressed pages of Parquet to columns that are not nested. All columns and pages of a row group share the launches.
//
//   parquet_values   finds the value of each row, writes values of fixed width and masks, and where the byte arrays are
//   parquet_offsets  lengths of byte arrays to offsets, and tells the host their sums
//   parquet_strings  copies the byte arrays
//
// The host has checked the headers of all runs and the lengths of all byte arrays, and lists both, so that a thread finds its row by
// binary searches: the page, the run of levels, the run of codes. Nothing but the codes of bit-packed runs is unchecked: a code that
// its dictionary lacks is told to the host, and its value is zeros.
//
// Bound: latency of the searches in micro-batches, then memory. The threads of a warp take neighbouring rows, which mostly share runs.
//
// Launch shapes (Java repeats them): parquet_values with VALUE_THREADS per block and a block per VALUE_TILE rows of each column;
// parquet_offsets with OFFSET_THREADS and a block per OFFSET_TILE rows of each column of byte arrays; parquet_strings with
// STRING_THREADS and a block per STRING_ROWS rows of each such column.

#include "column_output.cuh"
#include "parquet_value.cuh"

namespace millrace {

constexpr int VALUE_THREADS = 256;
constexpr int VALUE_ITEMS = 4;  // of a thread
constexpr int VALUE_TILE = VALUE_THREADS * VALUE_ITEMS;

static __device__ __forceinline__ void put_value(const ParquetColumn& column, int32_t row, const ParquetValue& value) {
  if (column.type == PARQUET_BYTE_ARRAY) {
    put<int64_t>(column.values, row, value.bits);
    put<int32_t>(column.second, row, value.length);
  } else if (column.second != 0) {
    const int64_t millis = floor_divide(value.bits, NANOS_PER_MILLI);
    put<int64_t>(column.values, row, millis);
    put<int32_t>(column.second, row, static_cast<int32_t>(value.bits - millis * NANOS_PER_MILLI));
  } else if (column.width == 16) {
    put<int64_t>(column.values, int64_t{2} * row, value.bits);
    put<int64_t>(column.values, int64_t{2} * row + 1, value.bits >> 63);
  } else {
    put_low_bytes(column.values, row, column.width, static_cast<uint64_t>(value.bits));
  }
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(ParquetArguments);
MILLRACE_REPORT_SIZE(ParquetStringsArguments);

extern "C" __global__ void __launch_bounds__(VALUE_THREADS) parquet_values(const __grid_constant__ ParquetArguments arguments) {
  const int32_t index = blockIdx.x / arguments.value_tiles;
  const ParquetColumn& column = reinterpret_cast<const ParquetColumn*>(arguments.columns)[index];
  const int64_t first = static_cast<int64_t>(blockIdx.x % arguments.value_tiles) * VALUE_TILE + threadIdx.x;
#pragma unroll 1
  for (int32_t i = 0; i < VALUE_ITEMS; ++i) {
    const int64_t row = first + i * VALUE_THREADS;
    const bool is_row = row < arguments.rows;
    ParquetValue value = {};
    if (is_row) {
      value = value_of_row(arguments, column, static_cast<int32_t>(row));
      put_value(column, static_cast<int32_t>(row), value);
      if (value.has_bad_code) put<int32_t>(arguments.bad_codes, index, 1);
    }
    const uint32_t present = __ballot_sync(ALL_LANES, value.is_present);
    if (is_row && lane_of_thread() == 0 && column.validity != 0) put<uint32_t>(column.validity, row / WARP, present);
  }
}

extern "C" __global__ void __launch_bounds__(OFFSET_THREADS) parquet_offsets(const __grid_constant__ ParquetArguments arguments) {
  const int32_t string = blockIdx.x / arguments.offset_tiles;
  const ParquetColumn* column = reinterpret_cast<const ParquetColumn*>(arguments.columns);
  while (column->string != string) ++column;
  const uint64_t look_back = arguments.look_back + string * (int64_t{1} + arguments.offset_tiles) * sizeof(int64_t);
  const uint64_t total = arguments.totals + string * sizeof(int64_t);
  sum_lengths_of_tile(look_back, arguments.offset_tiles, column->second, arguments.rows, total,
                      [](int32_t) { return true; });
}

extern "C" __global__ void __launch_bounds__(STRING_THREADS)
    parquet_strings(const __grid_constant__ ParquetStringsArguments arguments) {
  const ParquetStringColumn& column =
      reinterpret_cast<const ParquetStringColumn*>(arguments.columns)[blockIdx.x / arguments.blocks];
  const int64_t row = blockIdx.x % arguments.blocks * STRING_ROWS + threadIdx.x / STRING_LANES;
  if (row >= arguments.rows) return;
  const int32_t offset = element_of<int32_t>(column.offsets, row);
  const int32_t bytes = element_of<int32_t>(column.offsets, row + 1) - offset;
  if (bytes == 0) return;
  copy_string(reinterpret_cast<const char*>(arguments.bytes) + element_of<int64_t>(column.positions, row),
              reinterpret_cast<char*>(column.target) + offset, bytes, threadIdx.x % STRING_LANES);
}
