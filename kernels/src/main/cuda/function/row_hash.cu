// A hash of a row, value by value: each function mixes a value into the hash of the values before it.
// The mixing is the finalizer of MurmurHash3, fmix64. Values are hashed by their bits, NaN as one NaN.

#include "utf8.cuh"

using namespace millrace;

namespace {

__device__ inline int64_t mix(uint64_t value, int64_t hash) {
  uint64_t mixed = static_cast<uint64_t>(hash) * 0x9e3779b97f4a7c15ULL + value;
  mixed = (mixed ^ mixed >> 33) * 0xff51afd7ed558ccdULL;
  mixed = (mixed ^ mixed >> 33) * 0xc4ceb9fe1a85ec53ULL;
  return static_cast<int64_t>(mixed ^ mixed >> 33);
}

}  // namespace

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

// Eight bytes at a time, the last ones filled up with zeros.
MILLRACE_FUNCTION int64_t row_hash_bytes(const char* bytes, int32_t length, int64_t hash) {
  int64_t hashed = mix(static_cast<uint64_t>(length), hash);
  for (int32_t offset = 0; offset < length; offset += 8) {
    hashed = mix(load_bytes(bytes + offset, least(8, length - offset)), hashed);
  }
  return hashed;
}
