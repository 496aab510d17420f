// SPDX-License-Identifier: Apache-2.0
// The mixing of row_hash.cu, which RowSample and ConstantTable do in Java.

#pragma once

#include "common/bits.cuh"
#include "utf8.cuh"

namespace millrace {

__device__ inline int64_t mix(uint64_t value, int64_t hash) {
  return static_cast<int64_t>(murmur_finish_long(static_cast<uint64_t>(hash) * 0x9e3779b97f4a7c15ULL + value));
}

// Eight bytes at a time, the last ones filled up with zeros.
__device__ inline int64_t mix_bytes(const char* bytes, int32_t length, int64_t hash) {
  int64_t hashed = mix(static_cast<uint64_t>(length), hash);
  for (int32_t offset = 0; offset < length; offset += 8) {
    hashed = mix(load_bytes(bytes + offset, least(8, length - offset)), hashed);
  }
  return hashed;
}

}  // namespace millrace
