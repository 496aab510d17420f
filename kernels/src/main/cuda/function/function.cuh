// SPDX-License-Identifier: Apache-2.0
// What the functions that generated kernels call have in common: the types of values that take two
// registers, and the outcome of functions that may give null or fail.
//
// A function takes its values in this order: scratch memory if it makes bytes, the arguments (a two-part
// value as two parameters), a constant if its call has one. It is strict: its result is dropped where an
// argument is null, but it may be called there with undefined values of the argument and must not crash.

#pragma once

#include <cstdint>

// Functions keep C names, by which the generated kernels call them.
#define MILLRACE_FUNCTION extern "C" __device__ __noinline__

namespace millrace {

// Unscaled value of a DECIMAL128 as two's complement.
struct Decimal {
  uint64_t low;
  int64_t high;
};

// A TIMESTAMP(7..9): milliseconds since the epoch and nanoseconds of the millisecond.
struct Timestamp {
  int64_t millis;
  int32_t nanos;
};

// A run of bytes anywhere in the device's memory; UTF-8 if it is a STRING.
struct String {
  const char* bytes;
  int32_t length;
};

// The same numbers as io.millrace.expression.vector.Status.
enum Status : int32_t {
  VALUE = 0,
  NULL_VALUE = 1,
  DIVISION_BY_ZERO = 2,
  INVALID_CAST = 3,
  INVALID_ARGUMENT = 4,
  NEEDS_HOST = 5,
};

template <typename Value>
struct Outcome {
  Value value;
  int32_t status;
};

template <typename Value>
__device__ inline Outcome<Value> value(Value of) {
  return {of, VALUE};
}

template <typename Value>
__device__ inline Outcome<Value> none(Status status) {
  return {Value{}, status};
}

}  // namespace millrace
