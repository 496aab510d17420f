// Moves the rows that a map names: fixed-width columns.
//
// Bound: memory; reads are as scattered as the map. A thread takes ROUNDS rows so that as many independent loads are in
// flight. Launch shape (Java repeats it): GATHER_THREADS a block, ceil(rows / (GATHER_THREADS * GATHER_ROUNDS)) blocks.

#include "gather_arguments.cuh"

namespace millrace {

constexpr int GATHER_THREADS = 256;
constexpr int GATHER_ROUNDS = 4;

struct alignas(16) GatheredWide {
  uint64_t low;
  uint64_t high;
};

template <typename Value>
static __device__ __forceinline__ void gather_column(const MovedColumn& column, int64_t first, int64_t rows,
                                                     const int32_t (&source)[GATHER_ROUNDS]) {
  const Value* input = reinterpret_cast<const Value*>(column.input);
  Value* output = reinterpret_cast<Value*>(column.output);
  Value value[GATHER_ROUNDS];
#pragma unroll
  for (int r = 0; r < GATHER_ROUNDS; ++r) {
    value[r] = Value{};
    if (source[r] >= 0) value[r] = input[source[r]];
  }
#pragma unroll
  for (int r = 0; r < GATHER_ROUNDS; ++r) {
    if (first + r * GATHER_THREADS < rows) output[first + r * GATHER_THREADS] = value[r];
  }
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(GatherArguments);

extern "C" __global__ void __launch_bounds__(GATHER_THREADS)
    gather_fixed_width(const __grid_constant__ GatherArguments arguments) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * GATHER_THREADS * GATHER_ROUNDS + threadIdx.x;
  const int32_t* map = reinterpret_cast<const int32_t*>(arguments.map);
  int64_t used = arguments.rows;
  if (arguments.row_count != 0) used = min(used, static_cast<int64_t>(*reinterpret_cast<const int32_t*>(arguments.row_count)));
  int32_t source[GATHER_ROUNDS];
#pragma unroll
  for (int r = 0; r < GATHER_ROUNDS; ++r) {
    int64_t row = first + r * GATHER_THREADS;
    source[r] = row < used ? map[row] : -1;
  }
  for (int c = 0; c < arguments.columns; ++c) {
    const MovedColumn& column = arguments.column[c];
    switch (column.width) {
      case 1: gather_column<uint8_t>(column, first, arguments.rows, source); break;
      case 2: gather_column<uint16_t>(column, first, arguments.rows, source); break;
      case 4: gather_column<uint32_t>(column, first, arguments.rows, source); break;
      case 8: gather_column<uint64_t>(column, first, arguments.rows, source); break;
      default: gather_column<GatheredWide>(column, first, arguments.rows, source);
    }
  }
}
