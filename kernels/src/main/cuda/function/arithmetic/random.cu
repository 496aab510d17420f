// SPDX-License-Identifier: Apache-2.0
// The numbers of java.util.Random, each computed from the seed and its position in the sequence.

#include "function/function.cuh"

using namespace millrace;

namespace {

constexpr uint64_t MULTIPLIER = 0x5DEECE66Dull;
constexpr uint64_t INCREMENT = 0xB;
constexpr uint64_t MASK = (1ull << 48) - 1;

__device__ inline uint64_t next_state(uint64_t state) {
  return (state * MULTIPLIER + INCREMENT) & MASK;
}

// The state of the generator after a number of steps: a step is linear, and so are many.
__device__ inline uint64_t state_after(int64_t seed, uint64_t steps) {
  uint64_t factor = 1;
  uint64_t offset = 0;
  uint64_t power = MULTIPLIER;
  uint64_t increment = INCREMENT;
  for (uint64_t left = steps; left != 0; left >>= 1) {
    if ((left & 1) != 0) {
      factor *= power;
      offset = offset * power + increment;
    }
    increment *= power + 1;
    power *= power;
  }
  uint64_t first = (static_cast<uint64_t>(seed) ^ MULTIPLIER) & MASK;
  return (first * factor + offset) & MASK;
}

}  // namespace

MILLRACE_FUNCTION double random_double(int64_t seed, int64_t index) {
  uint64_t high = next_state(state_after(seed, 2 * static_cast<uint64_t>(index)));
  uint64_t low = next_state(high);
  return static_cast<double>(((high >> 22) << 27) + (low >> 21)) * 0x1.0p-53;
}

MILLRACE_FUNCTION Outcome<int32_t> random_integer(int64_t seed, int64_t index, int32_t bound) {
  if (bound <= 0) return none<int32_t>(INVALID_ARGUMENT);
  uint64_t state = next_state(state_after(seed, static_cast<uint64_t>(index)));
  uint32_t limit = static_cast<uint32_t>(bound);
  if ((limit & (limit - 1)) == 0) {
    return value(static_cast<int32_t>((limit * (state >> 17)) >> 31));
  }
  // Numbers behind the last multiple of the bound are drawn again.
  uint32_t drawn = static_cast<uint32_t>(state >> 17);
  uint32_t result = drawn % limit;
  while (static_cast<int32_t>(drawn - result + (limit - 1)) < 0) {
    state = next_state(state);
    drawn = static_cast<uint32_t>(state >> 17);
    result = drawn % limit;
  }
  return value(static_cast<int32_t>(result));
}
