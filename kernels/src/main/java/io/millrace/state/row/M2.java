// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.device.HostMemory;

/**
 * The twin of state_m2.cuh: the sum of the squared differences of numbers from their mean, by
 * Welford's method, as in Flink. Three words: the bits of the sum and of the mean, and the number
 * of values. All are zero if there are no values.
 */
final class M2 {
  static final int WORDS = 3;

  private double sum;
  private double mean;
  private long count;

  /** The words at {@code address}. */
  M2(long address) {
    sum = Double.longBitsToDouble(HostMemory.getLong(address));
    mean = Double.longBitsToDouble(HostMemory.getLong(address + Long.BYTES));
    count = HostMemory.getLong(address + 2 * Long.BYTES);
  }

  void write(long address) {
    HostMemory.putLong(address, Double.doubleToLongBits(sum));
    HostMemory.putLong(address + Long.BYTES, Double.doubleToLongBits(mean));
    HostMemory.putLong(address + 2 * Long.BYTES, count);
  }

  void add(double number) {
    count++;
    if (count <= 0) {
      return;
    }
    double delta = number - mean;
    mean += delta / count;
    sum += delta * (number - mean);
  }

  void takeBack(double number) {
    count--;
    if (count == 0) {
      clear();
    }
    if (count <= 0) {
      return;
    }
    double delta = number - mean;
    mean -= delta / count;
    sum -= (number - mean) * delta;
  }

  void add(M2 other) {
    if (other.count <= 0) {
      count += other.count;
    } else if (count == 0) {
      sum = other.sum;
      mean = other.mean;
      count = other.count;
    } else {
      addNumbers(other);
    }
    if (count <= 0) {
      clear();
    }
  }

  private void addNumbers(M2 other) {
    double ownCount = count;
    double otherCount = other.count;
    count += other.count;
    double both = count;
    double delta = other.mean - mean;
    mean += otherCount / both * delta;
    sum = sum + other.sum + ownCount * otherCount / both * delta * delta;
  }

  private void clear() {
    sum = 0;
    mean = 0;
  }
}
