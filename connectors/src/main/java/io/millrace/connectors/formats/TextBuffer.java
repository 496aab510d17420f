// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.device.HostMemory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Bytes of text that grow at the end. */
final class TextBuffer {
  private static final int LONG_DIGITS = 20;
  private static final int INITIAL_BYTES = 4096;
  private static final int KEPT_BYTES = 16 << 20;

  private byte[] bytes = new byte[INITIAL_BYTES];
  private int size;

  int size() {
    return size;
  }

  byte[] toByteArray() {
    return Arrays.copyOf(bytes, size);
  }

  /** A copy of the bytes from {@code start} to the end. */
  byte[] copyFrom(int start) {
    return Arrays.copyOfRange(bytes, start, size);
  }

  /** Empties the buffer, and gives back what an unusually long text took. */
  void clear() {
    size = 0;
    if (bytes.length > KEPT_BYTES) {
      bytes = new byte[INITIAL_BYTES];
    }
  }

  /** Bytes that are held, filled or not. */
  int capacity() {
    return bytes.length;
  }

  /** Cuts the text off after {@code newSize} bytes. */
  void truncate(int newSize) {
    size = newSize;
  }

  byte byteAt(int index) {
    return bytes[index];
  }

  void append(byte b) {
    ensure(1);
    bytes[size++] = b;
  }

  void append(char ascii) {
    append((byte) ascii);
  }

  void append(byte[] source) {
    append(source, 0, source.length);
  }

  void append(byte[] source, int start, int length) {
    ensure(length);
    System.arraycopy(source, start, bytes, size, length);
    size += length;
  }

  /** Appends text of ASCII characters. */
  void append(String ascii) {
    append(ascii.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** Appends bytes from host memory. */
  void append(long address, int length) {
    ensure(length);
    HostMemory.copyToArray(bytes, size, address, length);
    size += length;
  }

  void appendLong(long value) {
    ensure(LONG_DIGITS);
    // Digits are taken from the negative number, which Long.MIN_VALUE is too.
    long rest = value < 0 ? value : -value;
    int end = size + length(rest) + (value < 0 ? 1 : 0);
    int i = end;
    do {
      bytes[--i] = (byte) ('0' - rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (value < 0) {
      bytes[--i] = '-';
    }
    size = end;
  }

  private static int length(long negative) {
    int digits = 1;
    for (long rest = negative / 10; rest != 0; rest /= 10) {
      digits++;
    }
    return digits;
  }

  /** Appends {@code digits} digits of a number that is not negative, with zeros in front. */
  void appendPadded(int value, int digits) {
    ensure(digits);
    int rest = value;
    for (int i = size + digits - 1; i >= size; i--) {
      bytes[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
    size += digits;
  }

  private void ensure(int more) {
    int needed = Math.addExact(size, more);
    if (needed > bytes.length) {
      bytes = Arrays.copyOf(bytes, (int) Math.max(needed, Math.min(bytes.length * 2L, 1L << 30)));
    }
  }
}
