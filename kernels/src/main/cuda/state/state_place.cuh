// SPDX-License-Identifier: Apache-2.0
// Strings that a block stores or writes together: which of them a word or a byte belongs to.
#pragma once

#include <cstdint>

namespace millrace {

// The place, of a power of two, that holds `number`: `start` has the first number of each place.
template <int PLACES, typename Number>
static __device__ __forceinline__ int place_of_number(const Number* start, Number number) {
  int place = 0;
#pragma unroll
  for (int step = PLACES / 2; step > 0; step /= 2) {
    if (start[place + step] <= number) place += step;
  }
  return place;
}

}  // namespace millrace
