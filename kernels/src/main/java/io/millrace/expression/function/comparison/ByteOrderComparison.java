// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.comparison;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;

/**
 * Lexicographic order of byte strings in host memory: unsigned bytes, a prefix before the longer
 * string.
 */
@Internal
public final class ByteOrderComparison {
  private ByteOrderComparison() {}

  /** Less than, equal to or greater than 0, as the left string is to the right one. */
  public static int compare(long left, int leftLength, long right, int rightLength) {
    int common = Math.min(leftLength, rightLength);
    int i = 0;
    for (; i + Long.BYTES <= common; i += Long.BYTES) {
      long a = HostMemory.getLong(left + i);
      long b = HostMemory.getLong(right + i);
      if (a != b) {
        return Long.compareUnsigned(Long.reverseBytes(a), Long.reverseBytes(b));
      }
    }
    for (; i < common; i++) {
      int order = (HostMemory.getByte(left + i) & 0xff) - (HostMemory.getByte(right + i) & 0xff);
      if (order != 0) {
        return order;
      }
    }
    return Integer.compare(leftLength, rightLength);
  }
}
