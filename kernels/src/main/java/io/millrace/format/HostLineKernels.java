// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.MemoryResource;

/** The twin of lines.cu. */
final class HostLineKernels implements LineKernels {
  private static final long EACH_BYTE = 0x0101010101010101L;
  private static final long LOW_BITS = 0x7f7f7f7f7f7f7f7fL;
  private static final long NEWLINES = EACH_BYTE * '\n';

  @Override
  public int find(
      long text, int size, long starts, int capacity, DeviceStream stream, MemoryResource memory) {
    HostMemory.putInt(starts, 0);
    int lines = 0;
    int at = 0;
    for (; size - at >= Long.BYTES; at += Long.BYTES) {
      long word = HostMemory.getLong(text + at) ^ NEWLINES;
      long found = ~(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS);
      for (; found != 0; found &= found - 1) {
        lines++;
        put(starts, lines, capacity, at + Long.numberOfTrailingZeros(found) / Byte.SIZE + 1);
      }
    }
    for (; at < size; at++) {
      if (HostMemory.getByte(text + at) == '\n') {
        lines++;
        put(starts, lines, capacity, at + 1);
      }
    }
    if (HostMemory.getByte(text + size - 1) != '\n') {
      lines++;
      put(starts, lines, capacity, size);
    }
    return lines;
  }

  private static void put(long starts, int line, int capacity, int position) {
    if (line < capacity) {
      HostMemory.putInt(starts + (long) line * Integer.BYTES, position);
    }
  }
}
