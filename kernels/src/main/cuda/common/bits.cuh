// SPDX-License-Identifier: Apache-2.0
// Operations on the bits of values.
#pragma once

#include "bytes.cuh"

namespace millrace {

// The finalizer of MurmurHash3 for 64 bits.
MILLRACE_BYTES uint64_t murmur_finish_long(uint64_t bits) {
  bits = (bits ^ bits >> 33) * 0xff51afd7ed558ccdull;
  bits = (bits ^ bits >> 33) * 0xc4ceb9fe1a85ec53ull;
  return bits ^ bits >> 33;
}

MILLRACE_BYTES uint32_t canonical_not_a_number(uint32_t bits) {
  return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits;
}

MILLRACE_BYTES uint64_t canonical_not_a_number(uint64_t bits) {
  return (bits & 0x7fffffffffffffffull) > 0x7ff0000000000000ull ? 0x7ff8000000000000ull : bits;
}

}  // namespace millrace
