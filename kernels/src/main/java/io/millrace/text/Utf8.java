// SPDX-License-Identifier: Apache-2.0
package io.millrace.text;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;

/**
 * UTF-8 in host memory. Code points are counted like Flink's {@code BinaryStringData}: a byte that
 * cannot start a code point counts as one, and bytes after a leading byte belong to it without
 * validation. A truncated code point ends at the end. The twin of {@code utf8.cuh}.
 */
@Internal
public final class Utf8 {
  private static final long NOT_ASCII = 0x8080808080808080L;

  private Utf8() {}

  /** Length in bytes of the first code point of a non-empty text. */
  public static int width(long address, int length) {
    int first = HostMemory.getByte(address) & 0xff;
    int width = first < 0xc2 || first >= 0xf8 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    return Math.min(width, length);
  }

  /** Length in bytes of the last code point of a non-empty, well-formed text. */
  public static int lastWidth(long address, int length) {
    int width = 1;
    while (width < 4
        && width < length
        && (HostMemory.getByte(address + length - width) & 0xc0) == 0x80) {
      width++;
    }
    return width;
  }

  /** Number of code points. */
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

  /**
   * Offset of the code point after the first {@code count} ones, or the length if there are fewer.
   */
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

  // The end of the run of ASCII bytes between two offsets.
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

  /** First offset at or after {@code from} at which the sought bytes occur, or -1. */
  public static int find(long address, int length, long sought, int soughtLength, int from) {
    for (int offset = from; offset <= length - soughtLength; offset++) {
      if (equal(address + offset, sought, soughtLength)) {
        return offset;
      }
    }
    return -1;
  }
}
