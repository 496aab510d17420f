// SPDX-License-Identifier: Apache-2.0
// The sum of the squared differences of numbers from their mean, by Welford's method, as in Flink.
//
// Everything here compiles for the host too, so that the numbers can be checked without a GPU.
#pragma once

#include "common/bits.cuh"

namespace millrace {

// Three words of a state row: the bits of the sum and of the mean, and the number of values. Zero: there are no values.
struct M2 {
  double sum;
  double mean;
  int64_t count;
};

MILLRACE_FUNCTION void add_number(M2& m2, double number) {
  m2.count += 1;
  if (m2.count <= 0) return;
  const double delta = number - m2.mean;
  m2.mean += delta / static_cast<double>(m2.count);
  m2.sum += delta * (number - m2.mean);
}

MILLRACE_FUNCTION void take_back_number(M2& m2, double number) {
  m2.count -= 1;
  if (m2.count == 0) m2 = {};
  if (m2.count <= 0) return;
  const double delta = number - m2.mean;
  m2.mean -= delta / static_cast<double>(m2.count);
  m2.sum -= (number - m2.mean) * delta;
}

MILLRACE_FUNCTION void add_m2(M2& m2, const M2& other) {
  if (other.count <= 0 || m2.count == 0) {
    if (other.count > 0) m2 = other;
    else m2.count += other.count;
  } else {
    const double own_count = static_cast<double>(m2.count);
    const double other_count = static_cast<double>(other.count);
    const int64_t count = m2.count + other.count;
    const double both = static_cast<double>(count);
    const double delta = other.mean - m2.mean;
    m2.mean += other_count / both * delta;
    m2.sum = m2.sum + other.sum + own_count * other_count / both * delta * delta;
    m2.count = count;
  }
  if (m2.count <= 0) m2 = {0, 0, m2.count};
}

}  // namespace millrace
