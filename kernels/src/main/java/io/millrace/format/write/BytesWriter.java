// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.device.HostMemory;
import io.millrace.format.text.TextCursor;

/** Strings and bytes as text. The twin of {@code bytes_writer.cuh}. */
final class BytesWriter {
  private static final long BASE64_PADDING = '=';

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
    for (int at = 0; at < length; at += Long.BYTES) {
      int count = Math.min(Long.BYTES, length - at);
      long word = word(start, at, count);
      long special =
          TextCursor.bytesEqual(word, '"')
              | TextCursor.bytesEqual(word, '\\')
              | TextCursor.controlBytes(word);
      special &= TextSink.lowestBytes(count);
      if (special == 0) {
        sink.put(word, count);
      } else {
        putWithEscapes(sink, word, special, count);
      }
    }
    sink.put('"');
  }

  private static void putWithEscapes(TextSink sink, long word, long special, int count) {
    for (int i = 0; i < count; i++) {
      long next = word >>> (i * Byte.SIZE);
      if ((special >>> (i * Byte.SIZE) & 0x80) != 0) {
        putEscape(sink, (int) next & 0xff);
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
    for (int at = 0; at < length; at += Long.BYTES) {
      int count = Math.min(Long.BYTES, length - at);
      sink.put(word(start, at, count), count);
    }
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
    int number = bits & 63;
    if (number < 26) {
      return 'A' + number;
    }
    if (number < 52) {
      return 'a' + number - 26;
    }
    return number < 62 ? '0' + number - 52 : number == 62 ? '+' : '/';
  }
}
