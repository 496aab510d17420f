// The argument structures of the gather kernels. See partition_arguments.cuh for the rules of layout.
#pragma once

#include "partition_arguments.cuh"

namespace millrace {

// Moves fixed-width columns. A negative source row gives zero. Input 0 stands for the row number.
// row_count: device address of an int32 with the rows in use, or 0: all of `rows`.
struct GatherArguments {
  uint64_t map;  // int32[rows]: source row of each output row
  uint64_t row_count;
  int32_t rows;
  int32_t columns;
  MovedColumn column[MAXIMUM_COLUMNS];
};

}  // namespace millrace
