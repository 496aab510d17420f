// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import java.util.Arrays;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;

/** Reusable heap memory. A row in Flink's binary format is written to it from front to back. */
final class BinaryBuffer {
  private static final int WORD_BYTES = 8;
  private static final int INITIAL_BYTES = 256;

  private byte[] bytes = new byte[INITIAL_BYTES];
  private MemorySegment segment = MemorySegmentFactory.wrap(bytes);
  private int size;

  /** Valid until the next {@link #reserve}. */
  MemorySegment segment() {
    return segment;
  }

  /** Valid until the next {@link #reserve}. */
  byte[] bytes() {
    return bytes;
  }

  int size() {
    return size;
  }

  void clear() {
    size = 0;
  }

  /**
   * Reserves {@code length} bytes, rounded up to whole words. The bytes after {@code length} are
   * zero, the others undefined.
   *
   * @return the offset of the first reserved byte
   * @throws OutOfMemoryError if the row would have more than 2^31 - 1 bytes
   */
  int reserve(int length) {
    int start = size;
    long rounded = ((long) length + WORD_BYTES - 1) & -WORD_BYTES;
    if (start + rounded > bytes.length) {
      grow(start + rounded);
    }
    size = (int) (start + rounded);
    if (rounded > length) {
      segment.putLong(size - WORD_BYTES, 0);
    }
    return start;
  }

  /** As {@link #reserve}, but all reserved bytes are zero. */
  int reserveZeroed(int length) {
    int start = reserve(length);
    for (int i = start; i < size; i += WORD_BYTES) {
      segment.putLong(i, 0);
    }
    return start;
  }

  private void grow(long needed) {
    if (needed > Integer.MAX_VALUE - WORD_BYTES) {
      throw new OutOfMemoryError("a row of " + needed + " bytes");
    }
    bytes = Arrays.copyOf(bytes, (int) Math.min(needed * 2, Integer.MAX_VALUE - WORD_BYTES));
    segment = MemorySegmentFactory.wrap(bytes);
  }
}
