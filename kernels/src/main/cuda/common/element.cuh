// SPDX-License-Identifier: Apache-2.0
// Elements of buffers and bits of masks, by the addresses that Java passes.
#pragma once

#include "arguments.cuh"

namespace millrace {

template <typename Value>
MILLRACE_FUNCTION Value element_of(uint64_t address, int64_t index) {
  return reinterpret_cast<const Value*>(address)[index];
}

MILLRACE_FUNCTION bool bit_of(uint64_t mask, int64_t index) {
  return (element_of<uint8_t>(mask, index >> 3) >> (index & 7)) & 1;
}

}  // namespace millrace
