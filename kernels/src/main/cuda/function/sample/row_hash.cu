// SPDX-License-Identifier: Apache-2.0
// A hash of a row, value by value: each function mixes a value into the hash of the values before it.
// The mixing is the finalizer of MurmurHash3, fmix64. Values are hashed by their bits, NaN as one NaN.

#include "function/row_hash.cuh"

using namespace millrace;

MILLRACE_FUNCTION int64_t row_hash_int32(int32_t value, int64_t hash) {
  return mix(static_cast<uint64_t>(static_cast<int64_t>(value)), hash);
}

MILLRACE_FUNCTION int64_t row_hash_int64(int64_t value, int64_t hash) {
  return mix(static_cast<uint64_t>(value), hash);
}

MILLRACE_FUNCTION int64_t row_hash_float(float value, int64_t hash) {
  return mix(value != value ? 0x7fc00000u : __float_as_uint(value), hash);
}

MILLRACE_FUNCTION int64_t row_hash_double(double value, int64_t hash) {
  return mix(value != value ? 0x7ff8000000000000ULL
                            : static_cast<uint64_t>(__double_as_longlong(value)),
             hash);
}

MILLRACE_FUNCTION int64_t row_hash_decimal128(uint64_t low, int64_t high, int64_t hash) {
  return mix(static_cast<uint64_t>(high), mix(low, hash));
}

MILLRACE_FUNCTION int64_t row_hash_timestamp_nanos(int64_t millis, int32_t nanos, int64_t hash) {
  return mix(static_cast<uint64_t>(nanos), mix(static_cast<uint64_t>(millis), hash));
}

MILLRACE_FUNCTION int64_t row_hash_bytes(const char* bytes, int32_t length, int64_t hash) {
  return mix_bytes(bytes, length, hash);
}
