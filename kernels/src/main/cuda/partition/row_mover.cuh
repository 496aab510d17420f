// SPDX-License-Identifier: Apache-2.0
// Moves rows straight from registers to their places: for batches whose output stays in the second-level cache.
#pragma once

#include "partition_block.cuh"

namespace millrace {

constexpr int VALUES_IN_FLIGHT = 4;  // a thread's loads before its first store, over columns and rows

// Moves this thread's rows of up to VALUES_IN_FLIGHT / ROUNDS columns of one width; all loads come before the stores.
template <typename Value, int ROUNDS>
static __device__ __forceinline__ void move_rows(const MovedColumn* column, int count, int64_t first, int rows,
                                                 const uint32_t (&destination)[ROUNDS]) {
  constexpr int COLUMNS_IN_FLIGHT = VALUES_IN_FLIGHT / ROUNDS;
  Value value[COLUMNS_IN_FLIGHT][ROUNDS];
#pragma unroll
  for (int c = 0; c < COLUMNS_IN_FLIGHT; ++c) {
    if (c >= count) break;
    const Value* input = reinterpret_cast<const Value*>(column[c].input);
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
      if (r * WARP < rows) value[c][r] = input[first + r * WARP];
    }
  }
#pragma unroll
  for (int c = 0; c < COLUMNS_IN_FLIGHT; ++c) {
    if (c >= count) break;
    Value* output = reinterpret_cast<Value*>(column[c].output);
#pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
      if (r * WARP < rows) output[destination[r]] = value[c][r];
    }
  }
}

template <int ROUNDS>
static __device__ __forceinline__ void write_gather_map(const MovedColumn& column, int64_t first, int rows,
                                                        const uint32_t (&destination)[ROUNDS]) {
#pragma unroll
  for (int r = 0; r < ROUNDS; ++r) {
    if (r * WARP < rows) {
      reinterpret_cast<int32_t*>(column.output)[destination[r]] = static_cast<int32_t>(first + r * WARP);
    }
  }
}

// `rows` counts this thread's rows times WARP: row first + r * WARP exists when r * WARP < rows.
template <int ROUNDS>
static __device__ __forceinline__ void move_all_rows(const MovedColumn* columns, int column_count,
                                                     int64_t first, int rows, const uint32_t (&destination)[ROUNDS]) {
  for (int c = 0; c < column_count;) {
    const MovedColumn* column = &columns[c];
    if (column->input == 0) {
      write_gather_map<ROUNDS>(*column, first, rows, destination);
      ++c;
      continue;
    }
    int count = 1;
    while (count < VALUES_IN_FLIGHT / ROUNDS && c + count < column_count && column[count].width == column->width &&
           column[count].input != 0) {
      ++count;
    }
    switch (column->width) {
      case 1: move_rows<uint8_t, ROUNDS>(column, count, first, rows, destination); break;
      case 2: move_rows<uint16_t, ROUNDS>(column, count, first, rows, destination); break;
      case 4: move_rows<uint32_t, ROUNDS>(column, count, first, rows, destination); break;
      case 8: move_rows<uint64_t, ROUNDS>(column, count, first, rows, destination); break;
      default: move_rows<Wide, ROUNDS>(column, count, first, rows, destination);
    }
    c += count;
  }
}

}  // namespace millrace
