// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.device.HostMemory;

/** Strings and bytes as text. The twin of {@code bytes_writer.cuh}. */
final class BytesWriter {
  private static final long BASE64_PADDING = '=';
  private static final long EACH_ONE = 0x0101010101010101L;
  private static final long EACH_SPACE = EACH_ONE * ' ';
  private static final long EACH_QUOTE = EACH_ONE * '"';
  private static final long EACH_BACKSLASH = EACH_ONE * '\\';
  private static final long HIGH_BITS = 0x8080808080808080L;

  private BytesWriter() {}

  /** Up to eight bytes of those that begin at {@code start}, the first one lowest. */
  private static long word(long start, int at, int count) {
    long address = start + at;
    if (count == Long.BYTES) {
      return HostMemory.getLong(address);
    }
    if (at + count >= Long.BYTES) {
      int before = Long.BYTES - count;
      return HostMemory.getLong(address - before) >>> (before * Byte.SIZE);
    }
    long word = 0;
    for (int i = count - 1; i >= 0; i--) {
      word = word << Byte.SIZE | (HostMemory.getByte(address + i) & 0xff);
    }
    return word;
  }

  /** Puts a string of JSON. Its bytes are not checked. */
  static void putEscaped(TextSink sink, long start, int length) {
    sink.put('"');
    int at = 0;
    while (at < length) {
      at += putUnescaped(sink, start + at, length - at);
      if (at < length) {
        int count = Math.min(Long.BYTES, length - at);
        putWithEscapes(sink, word(start, at, count), count);
        at += count;
      }
    }
    sink.put('"');
  }

  // Puts the words before the first one with a byte that needs an escape.
  private static int putUnescaped(TextSink sink, long start, int length) {
    long target = sink.reserve(length + (long) Long.BYTES);
    int at = 0;
    while (length - at >= Long.BYTES) {
      long word = HostMemory.getLong(start + at);
      if (specialOf(word) != 0) {
        break;
      }
      HostMemory.putLong(target + at, word);
      at += Long.BYTES;
    }
    int left = length - at;
    if (left < Long.BYTES && left > 0) {
      long word = word(start, at, left);
      if ((specialOf(word) & TextSink.lowestBytes(left)) == 0) {
        HostMemory.putLong(target + at, word);
        at = length;
      }
    }
    sink.advance(at);
    return at;
  }

  // Has a bit of the lowest byte that needs an escape, and perhaps of bytes above it.
  private static long specialOf(long word) {
    long quotes = word ^ EACH_QUOTE;
    long backslashes = word ^ EACH_BACKSLASH;
    long special =
        ((word - EACH_SPACE) & ~word)
            | ((quotes - EACH_ONE) & ~quotes)
            | ((backslashes - EACH_ONE) & ~backslashes);
    return special & HIGH_BITS;
  }

  private static void putWithEscapes(TextSink sink, long word, int count) {
    for (int i = 0; i < count; i++) {
      int next = (int) (word >>> (i * Byte.SIZE)) & 0xff;
      if (next < ' ' || next == '"' || next == '\\') {
        putEscape(sink, next);
      } else {
        sink.put(next, 1);
      }
    }
  }

  private static void putEscape(TextSink sink, int next) {
    long backslash = '\\';
    long letter =
        switch (next) {
          case '"', '\\' -> next;
          case '\n' -> 'n';
          case '\r' -> 'r';
          case '\t' -> 't';
          default -> 0;
        };
    if (letter != 0) {
      sink.put(backslash | letter << 8, 2);
    } else {
      sink.put(
          backslash
              | 'u' << 8
              | '0' << 16
              | (long) '0' << 24
              | hexDigit(next >> 4) << 32
              | hexDigit(next & 15) << 40,
          6);
    }
  }

  private static long hexDigit(int number) {
    return number < 10 ? '0' + number : 'a' + number - 10;
  }

  /** Puts bytes as they are. */
  static void put(TextSink sink, long start, int length) {
    HostMemory.copy(sink.reserve(length), start, length);
    sink.advance(length);
  }

  /** Puts bytes in Base64, with padding. */
  static void putBase64(TextSink sink, long start, int length) {
    for (int at = 0; at < length; at += 3) {
      int count = Math.min(3, length - at);
      int word = (int) word(start, at, count);
      int bits = (word & 0xff) << 16 | (word & 0xff00) | (word >> 16 & 0xff);
      sink.put(
          base64Digit(bits >> 18)
              | base64Digit(bits >> 12) << 8
              | (count > 1 ? base64Digit(bits >> 6) : BASE64_PADDING) << 16
              | (count > 2 ? base64Digit(bits) : BASE64_PADDING) << 24,
          4);
    }
  }

  private static long base64Digit(int bits) {
    long number = bits & 63;
    if (number < 26) {
      return 'A' + number;
    }
    if (number < 52) {
      return 'a' + number - 26;
    }
    return number < 62 ? '0' + number - 52 : number == 62 ? '+' : '/';
  }
}
