// SPDX-License-Identifier: Apache-2.0
package io.millrace.text;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;

/**
 * UTF-8 in host memory. Code points are counted as Flink's {@code BinaryStringData} does: a byte
 * that cannot start one counts as one, and what follows a leading byte belongs to it, whatever it
 * is. A code point that the end cuts off ends there. The twin of {@code utf8.cuh}.
 */
@Internal
public final class Utf8 {
  private static final long NOT_ASCII = 0x8080808080808080L;

  private Utf8() {}

  /** The bytes of the code point at the start; there is one. */
  public static int width(long address, int length) {
    int first = HostMemory.getByte(address) & 0xff;
    int width = first < 0xc2 || first >= 0xf8 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    return Math.min(width, length);
  }

  /** The bytes of the code point at the end of what is well-formed; there is one. */
  public static int lastWidth(long address, int length) {
    int width = 1;
    while (width < 4
        && width < length
        && (HostMemory.getByte(address + length - width) & 0xc0) == 0x80) {
      width++;
    }
    return width;
  }

  /** The number of code points. */
  public static int count(long address, int length) {
    int count = 0;
    for (int offset = 0; offset < length; count++) {
      int ascii = asciiRun(address, offset, length);
      offset += ascii;
      count += ascii;
      if (offset == length) {
        return count;
      }
      offset += width(address + offset, length - offset);
    }
    return count;
  }

  /** Where the code point behind the first {@code count} ones starts, or the end. */
  public static int offsetOf(long address, int length, int count) {
    int offset = 0;
    int left = count;
    while (offset < length && left > 0) {
      int ascii = asciiRun(address, offset, offset + Math.min(left, length - offset));
      offset += ascii;
      left -= ascii;
      if (offset < length && left > 0) {
        offset += width(address + offset, length - offset);
        left--;
      }
    }
    return offset;
  }

  public static boolean isAscii(long address, int length) {
    return asciiRun(address, 0, length) == length;
  }

  // The bytes from one offset to another, as far as they are ASCII.
  private static int asciiRun(long address, int from, int to) {
    int offset = from;
    while (to - offset >= Long.BYTES) {
      long high = HostMemory.getLong(address + offset) & NOT_ASCII;
      if (high != 0) {
        return offset - from + Long.numberOfTrailingZeros(high) / Byte.SIZE;
      }
      offset += Long.BYTES;
    }
    while (offset < to && HostMemory.getByte(address + offset) >= 0) {
      offset++;
    }
    return offset - from;
  }

  public static boolean equal(long left, long right, int length) {
    int offset = 0;
    for (; length - offset >= Long.BYTES; offset += Long.BYTES) {
      if (HostMemory.getLong(left + offset) != HostMemory.getLong(right + offset)) {
        return false;
      }
    }
    for (; offset < length; offset++) {
      if (HostMemory.getByte(left + offset) != HostMemory.getByte(right + offset)) {
        return false;
      }
    }
    return true;
  }

  /** The first offset from {@code from} on where the sought bytes are, or -1. */
  public static int find(long address, int length, long sought, int soughtLength, int from) {
    for (int offset = from; offset <= length - soughtLength; offset++) {
      if (equal(address + offset, sought, soughtLength)) {
        return offset;
      }
    }
    return -1;
  }
}
