// SPDX-License-Identifier: Apache-2.0
// Cast between numeric types, one element per thread.
//
// Bound by memory: reads the input once, writes the output once, no scratch. Every thread of a launch
// takes the same branch on the two types, so one kernel serves all pairs. Conversions are Java's:
// integers wrap, floating point to integer saturates and maps NaN to 0, and narrower than int goes
// through int.

#include "common/arguments.cuh"

namespace millrace {

struct CastArguments {
  uint64_t input;
  uint64_t output;
  int64_t rows;
  int32_t from;
  int32_t to;
};

enum Numeric : int32_t { INT8, INT16, INT32, INT64, FLOAT32, FLOAT64 };

template <typename Integer, typename Floating>
__device__ Integer saturate(Floating value, Floating limit, Integer lowest, Integer highest) {
  if (value != value) return 0;
  if (value >= limit) return highest;
  if (value < -limit) return lowest;
  return static_cast<Integer>(value);
}

template <typename From>
__device__ int32_t to_int(From value) {
  return static_cast<int32_t>(value);
}
template <>
__device__ int32_t to_int(float value) {
  return saturate<int32_t>(value, 2147483648.0f, INT32_MIN, INT32_MAX);
}
template <>
__device__ int32_t to_int(double value) {
  return saturate<int32_t>(value, 2147483648.0, INT32_MIN, INT32_MAX);
}

template <typename From>
__device__ int64_t to_long(From value) {
  return static_cast<int64_t>(value);
}
template <>
__device__ int64_t to_long(float value) {
  return saturate<int64_t>(value, 9223372036854775808.0f, INT64_MIN, INT64_MAX);
}
template <>
__device__ int64_t to_long(double value) {
  return saturate<int64_t>(value, 9223372036854775808.0, INT64_MIN, INT64_MAX);
}

template <typename To>
__device__ void store(const CastArguments& arguments, int64_t row, To value) {
  reinterpret_cast<To*>(arguments.output)[row] = value;
}

template <typename From>
__device__ void cast_from(const CastArguments& arguments, int64_t row) {
  From value = reinterpret_cast<const From*>(arguments.input)[row];
  switch (arguments.to) {
    case INT8: store(arguments, row, static_cast<int8_t>(to_int(value))); break;
    case INT16: store(arguments, row, static_cast<int16_t>(to_int(value))); break;
    case INT32: store(arguments, row, to_int(value)); break;
    case INT64: store(arguments, row, to_long(value)); break;
    case FLOAT32: store(arguments, row, static_cast<float>(value)); break;
    case FLOAT64: store(arguments, row, static_cast<double>(value)); break;
  }
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(CastArguments);

extern "C" __global__ void cast(__grid_constant__ const CastArguments arguments) {
  int64_t row = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (row >= arguments.rows) return;
  switch (arguments.from) {
    case INT8: cast_from<int8_t>(arguments, row); break;
    case INT16: cast_from<int16_t>(arguments, row); break;
    case INT32: cast_from<int32_t>(arguments, row); break;
    case INT64: cast_from<int64_t>(arguments, row); break;
    case FLOAT32: cast_from<float>(arguments, row); break;
    case FLOAT64: cast_from<double>(arguments, row); break;
  }
}
