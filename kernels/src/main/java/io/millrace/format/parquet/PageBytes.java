// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.device.HostMemory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Room in host memory that pages are copied to, one behind the other. */
final class PageBytes {
  /** INT32 numbers of pages. */
  static final VarHandle INTEGER =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /** INT64 numbers of pages. */
  static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final int ALIGNMENT = Long.BYTES;

  private final long address;
  private final long capacity;
  private long size;

  PageBytes(long address, long capacity) {
    this.address = address;
    this.capacity = capacity;
  }

  /**
   * The most bytes that {@code pages} pages of {@code bytes} bytes together take, and a word behind
   * them, so that a word may be read at each byte.
   */
  static long capacity(long bytes, int pages) {
    return bytes + (pages + 1L) * ALIGNMENT;
  }

  /**
   * Copies a page, to a multiple of 8 bytes.
   *
   * @return its position
   * @throws IllegalStateException if there is no room left for it
   */
  long add(byte[] page) {
    if (page.length > capacity - size - ALIGNMENT) {
      throw new IllegalStateException(
          "a page of " + page.length + " bytes behind " + size + " of " + capacity);
    }
    long position = size;
    HostMemory.copyFromArray(address + position, page, 0, page.length);
    size = (size + page.length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return position;
  }
}
