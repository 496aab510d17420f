// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.text;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;

/**
 * A reader of text in host memory. The twin of {@code text_cursor.cuh} and {@code text_utf8.cuh}.
 * Used by one thread.
 */
@Internal
public final class TextCursor {
  /** What is behind the last byte. */
  public static final int END_OF_TEXT = -1;

  private static final long EACH_BYTE = 0x0101010101010101L;
  private static final long LOW_BITS = 0x7f7f7f7f7f7f7f7fL;
  private static final long HIGH_BITS = ~LOW_BITS;

  private long address;
  private int at;
  private int end;

  /** The highest bit of each byte of a word that is {@code expected}, an ASCII character. */
  public static long bytesEqual(long word, char expected) {
    long different = word ^ (EACH_BYTE * expected);
    return ~(((different & LOW_BITS) + LOW_BITS) | different | LOW_BITS);
  }

  /** The highest bit of each byte of a word that is below a space. */
  public static long controlBytes(long word) {
    return ~(((word & LOW_BITS) + EACH_BYTE * 0x60) | word) & HIGH_BITS;
  }

  /** The highest bit of each byte of a word that is not ASCII. */
  public static long notAscii(long word) {
    return word & HIGH_BITS;
  }

  /** Reads the bytes from {@code start} to {@code end}, counted from {@code address}. */
  public void reset(long newAddress, int start, int newEnd) {
    address = newAddress;
    at = start;
    end = newEnd;
  }

  /** Reads a part of what another cursor reads. */
  public void reset(TextCursor other, int start, int newEnd) {
    reset(other.address, start, newEnd);
  }

  /** The address that positions count from. */
  public long address() {
    return address;
  }

  /** The position of the next byte. */
  public int at() {
    return at;
  }

  public int end() {
    return end;
  }

  public void moveTo(int position) {
    at = position;
  }

  public boolean isAtEnd() {
    return at == end;
  }

  /** The next byte, not negative, or {@link #END_OF_TEXT}. */
  public int peek() {
    return at < end ? HostMemory.getByte(address + at) & 0xff : END_OF_TEXT;
  }

  /** As {@link #peek}, and goes on behind it. */
  public int next() {
    int next = peek();
    at++;
    return next;
  }

  /** Goes on behind the next byte if it is {@code expected}. */
  public boolean take(char expected) {
    if (peek() != expected) {
      return false;
    }
    at++;
    return true;
  }

  /** Drops a line feed at the end, and a carriage return that is then at the end. */
  public void dropLineEnd() {
    if (end > at && HostMemory.getByte(address + end - 1) == '\n') {
      end--;
    }
    if (end > at && HostMemory.getByte(address + end - 1) == '\r') {
      end--;
    }
  }

  /**
   * Goes on behind a code point that is not ASCII, in the only form that it has in UTF-8. False if
   * there is none; then the cursor is anywhere.
   */
  public boolean takeUtf8() {
    int first = next();
    int more = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    if (more == 0) {
      return false;
    }
    int second = next();
    int least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    int most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (second < least || second > most) {
      return false;
    }
    for (int i = 1; i < more; i++) {
      if ((next() & ~0x3f) != 0x80) {
        return false;
      }
    }
    return true;
  }

  /**
   * Goes to the end if there is nothing but UTF-8. Otherwise goes to the first byte of what is not,
   * and returns false.
   */
  public boolean skipText() {
    while (at < end) {
      int start = at;
      if (end - start >= Long.BYTES && notAscii(word(start)) == 0) {
        at = start + Long.BYTES;
      } else if (peek() < 0x80) {
        at++;
      } else if (!takeUtf8()) {
        at = start;
        return false;
      }
    }
    return true;
  }

  public boolean isDigitNext() {
    return isDigit(peek());
  }

  public static boolean isDigit(int next) {
    return next >= '0' && next <= '9';
  }

  /** Whether the next bytes are those of some words, the first byte of a word lowest. */
  public boolean startsWith(long[] expected, int bytes) {
    if (end - at < bytes) {
      return false;
    }
    for (int i = 0; i < bytes; i += Long.BYTES) {
      long different = (word(at + i) ^ expected[i / Long.BYTES]);
      int left = bytes - i;
      if (left < Long.BYTES) {
        different &= (1L << (left * Byte.SIZE)) - 1;
      }
      if (different != 0) {
        return false;
      }
    }
    return true;
  }

  /** Goes on behind up to 8 bytes, given as a word, if they are next. */
  public boolean takeWord(long expected, int bytes) {
    if (end - at < bytes) {
      return false;
    }
    long mask = bytes == Long.BYTES ? -1 : (1L << (bytes * Byte.SIZE)) - 1;
    if (((word(at) ^ expected) & mask) != 0) {
      return false;
    }
    at += bytes;
    return true;
  }

  /** Up to 8 bytes from a position on, the first one lowest; zeros behind the end. */
  public long word(int position) {
    if (end - position >= Long.BYTES) {
      return HostMemory.getLong(address + position);
    }
    long word = 0;
    for (int i = end - 1; i >= position; i--) {
      word = word << Byte.SIZE | (HostMemory.getByte(address + i) & 0xff);
    }
    return word;
  }
}
