// SPDX-License-Identifier: Apache-2.0
// The argument structures of the gather kernels. See common/arguments.cuh for the rules of layout.
#pragma once

#include "common/arguments.cuh"

namespace millrace {

constexpr int32_t MAX_GATHERED = 48;

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
  GatheredBuffer buffer[MAX_GATHERED];
};

// Gathers runs: the bytes of strings, or the element numbers of lists. Scratch memory, all of it zeros:
//   stripes = 0      uint64: the next tile; then uint64[tiles]: the words of the look-back
//   stripes > 0      uint64[ceil(tiles / SUMS_GROUP)]: elements of each group of tiles; then uint64[tiles]: of each tile
//   gather_run_total uint64: the elements of all rows
struct GatherRunsArguments {
  uint64_t map;             // int32[rows]
  uint64_t input_offsets;   // int32, at the first row of the slice
  uint64_t input_bytes;     // strings
  uint64_t output_offsets;  // int32[rows + 1]
  uint64_t output;          // strings: bytes; lists: int32 numbers of the input's elements
  uint64_t scratch;
  int32_t rows;
  int32_t capacity;         // elements of `output`; no run is written past it, and no offset is larger
  int32_t tile_rows;        // rows of a tile; at most the number that the kernel takes
  int32_t tiles;
  int32_t stripes;          // 0: tiles in row order; otherwise the number of stripes that blocks take tiles from in turn
  int32_t stripe_tiles;     // ceil(tiles / stripes)
};

}  // namespace millrace
