// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.device.HostMemory;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.Arrays;

/** INT32 numbers that grow at their end. */
final class IntegerList {
  private static final int MAX_SIZE = Integer.MAX_VALUE / Integer.BYTES;

  private int[] values = new int[256];
  private int size;

  int size() {
    return size;
  }

  /**
   * @throws IOException if there are 512 Mi numbers
   */
  void add(int value) throws IOException {
    if (size == values.length) {
      if (size == MAX_SIZE) {
        throw new IOException("the pages have more than " + MAX_SIZE + " runs and values of bytes");
      }
      values = Arrays.copyOf(values, (int) Math.min(MAX_SIZE, 2L * size));
    }
    values[size++] = value;
  }

  /** Removes all numbers behind the first {@code newSize}. */
  void truncate(int newSize) {
    size = newSize;
  }

  int bytes() {
    return size * Integer.BYTES;
  }

  void copyTo(long address) {
    if (size > 0) {
      HostMemory.byteBuffer(address, bytes())
          .order(ByteOrder.nativeOrder())
          .asIntBuffer()
          .put(values, 0, size);
    }
  }
}
