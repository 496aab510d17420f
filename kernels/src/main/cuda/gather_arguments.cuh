// The argument structures of the gather kernels. See partition_arguments.cuh for the rules of layout.
#pragma once

#include "partition_arguments.cuh"

namespace millrace {

constexpr int32_t MAXIMUM_GATHERED = 48;

// A buffer that is gathered element by element: a fixed-width column, or a validity mask (width 0).
struct GatheredBuffer {
  uint64_t input;
  uint64_t output;
  int32_t width;       // 1, 2, 4, 8 or 16 bytes; 0: one bit
  int32_t bit_offset;  // masks: the first bit of the slice
};

// A negative source row gives zero, and a zero bit.
struct GatherArguments {
  uint64_t map;  // int32[rows]: source row of each output row
  int32_t rows;
  int32_t buffers;
  GatheredBuffer buffer[MAXIMUM_GATHERED];
};

// Gathers runs: the bytes of strings, or the element numbers of lists.
struct GatherRunsArguments {
  uint64_t map;             // int32[rows]
  uint64_t input_offsets;   // int32, at the first row of the slice
  uint64_t input_bytes;     // strings
  uint64_t output_offsets;  // int32[rows + 1]
  uint64_t output;          // strings: bytes; lists: int32 numbers of the input's elements
  uint64_t tile_sums;       // scratch: int32[ceil(rows / RUNS_TILE)]
  int32_t rows;
  int32_t capacity;         // elements of `output`; no run is written past it
};

}  // namespace millrace
