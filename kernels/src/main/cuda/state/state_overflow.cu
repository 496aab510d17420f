// SPDX-License-Identifier: Apache-2.0
// Which sums of decimals fit their type, DECIMAL(38).
//
//   state_overflow  writes a bit for each row: whether its sum has up to 38 digits
//
// Bound: bandwidth, 16 or 24 bytes a row. Launch shape (Java repeats it): STATE_OVERFLOW_THREADS per block, a thread per
// row.

#include "common/block.cuh"
#include "common/element.cuh"

namespace millrace {

constexpr int STATE_OVERFLOW_THREADS = 256;

struct StateOverflowArguments {
  uint64_t sums;  // per row two words, the lower one first
  uint64_t tops;  // uint64 per row: the word above them; 0: the sums have two words
  uint64_t mask;  // uint32 per 32 rows
  int64_t rows;
};

constexpr uint64_t END_LOW = 0x098a224000000000ull;  // 10^38
constexpr uint64_t END_HIGH = 0x4b3b4ca85a86c47aull;

MILLRACE_FUNCTION uint64_t sign_of(uint64_t word) { return static_cast<uint64_t>(static_cast<int64_t>(word) >> 63); }

MILLRACE_FUNCTION bool has_38_digits(uint64_t low, uint64_t high) {
  const uint64_t sign = sign_of(high);
  const uint64_t absolute_low = (low ^ sign) - sign;
  const uint64_t absolute_high = (high ^ sign) + (sign != 0 && low == 0 ? 1 : 0);
  return absolute_high == END_HIGH ? absolute_low < END_LOW : absolute_high < END_HIGH;
}

}  // namespace millrace

using namespace millrace;

MILLRACE_REPORT_SIZE(StateOverflowArguments);

extern "C" __global__ void __launch_bounds__(STATE_OVERFLOW_THREADS)
    state_overflow(const __grid_constant__ StateOverflowArguments arguments) {
  const int64_t row = blockIdx.x * static_cast<int64_t>(STATE_OVERFLOW_THREADS) + threadIdx.x;
  bool fits = false;
  if (row < arguments.rows) {
    const Wide sum = element_of<Wide>(arguments.sums, row);
    fits = has_38_digits(sum.low, sum.high);
    if (arguments.tops != 0) fits &= element_of<uint64_t>(arguments.tops, row) == sign_of(sum.high);
  }
  const uint32_t bits = __ballot_sync(ALL_LANES, fits);
  if (lane_of_thread() == 0 && row < arguments.rows) {
    reinterpret_cast<uint32_t*>(arguments.mask)[row / WARP] = bits;
  }
}
