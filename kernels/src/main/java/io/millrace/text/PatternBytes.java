// SPDX-License-Identifier: Apache-2.0
package io.millrace.text;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;

/** Code points and line terminators in off-heap UTF-8 with the meaning of regular expressions. */
@Internal
public final class PatternBytes {
  private PatternBytes() {}

  public static boolean isContinuation(byte value) {
    return (value & 0xc0) == 0x80;
  }

  /**
   * Length in bytes of the line terminator of {@link java.util.regex.Pattern} at {@code at}; 0 if
   * there is none, and 1 for the carriage return of a CR LF pair.
   */
  static int lineTerminatorBytes(long address, int length, int at) {
    return switch (HostMemory.getByte(address + at)) {
      case '\n', '\r' -> 1;
      case (byte) 0xc2 ->
          at + 1 < length && HostMemory.getByte(address + at + 1) == (byte) 0x85 ? 2 : 0;
      case (byte) 0xe2 -> isSeparator(address, length, at) ? 3 : 0;
      default -> 0;
    };
  }

  private static boolean isSeparator(long address, int length, int at) {
    return at + 2 < length
        && HostMemory.getByte(address + at + 1) == (byte) 0x80
        && (HostMemory.getByte(address + at + 2) | 1) == (byte) 0xa9;
  }

  /**
   * Length in bytes of the code point at {@code at}; 0 if no code point starts there or it is a
   * line terminator.
   */
  public static int codePointButLineTerminator(long address, int length, int at) {
    if (isContinuation(HostMemory.getByte(address + at))
        || lineTerminatorBytes(address, length, at) > 0) {
      return 0;
    }
    return Utf8.width(address + at, length - at);
  }

  /**
   * Whether {@code $} matches: at the end, and before a line terminator at the end of the string.
   */
  public static boolean isBeforeFinalTerminator(long address, int length, int at) {
    if (at == length) {
      return true;
    }
    byte first = HostMemory.getByte(address + at);
    if (first == '\r' && at + 2 == length) {
      return HostMemory.getByte(address + at + 1) == '\n';
    }
    int size = lineTerminatorBytes(address, length, at);
    boolean isPairsEnd = first == '\n' && at > 0 && HostMemory.getByte(address + at - 1) == '\r';
    return size > 0 && at + size == length && !isPairsEnd;
  }

  /** Number of UTF-16 units in the first {@code length} bytes. */
  public static int utf16Length(long address, int length) {
    int units = 0;
    for (int i = 0; i < length; i++) {
      if (!isContinuation(HostMemory.getByte(address + i))) {
        units += Utf8.width(address + i, length - i) == 4 ? 2 : 1;
      }
    }
    return units;
  }
}
