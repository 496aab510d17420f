// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.device.HostMemory;
import io.millrace.format.text.TextCursor;
import java.nio.charset.StandardCharsets;

/** The name of a member, in UTF-8. */
final class JsonName {
  // The first byte of a word lowest, with a quotation mark behind the name.
  private final long[] words;
  private final int bytes;
  private final boolean hasEscapes;

  JsonName(String name) {
    byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
    words = new long[utf8.length / Long.BYTES + 1];
    bytes = utf8.length;
    boolean escapes = false;
    for (int i = 0; i <= bytes; i++) {
      long next = i < bytes ? utf8[i] & 0xff : '"';
      words[i / Long.BYTES] |= next << (i % Long.BYTES * Byte.SIZE);
      escapes |= i < bytes && (next == '"' || next == '\\' || next < ' ');
    }
    hasEscapes = escapes;
  }

  int bytes() {
    return bytes;
  }

  /** Whether JSON can only write the name with escapes. */
  boolean hasEscapes() {
    return hasEscapes;
  }

  /** Goes on behind the name and its closing quotation mark, if they are next. */
  boolean takeQuoted(TextCursor text) {
    if (hasEscapes || !text.startsWith(words, bytes + 1)) {
      return false;
    }
    text.moveTo(text.at() + bytes + 1);
    return true;
  }

  /** Whether the name is next, whatever is behind it. */
  boolean isNext(TextCursor text) {
    return text.startsWith(words, bytes);
  }

  /** Bytes of the words that {@link #write} writes. */
  int wordBytes() {
    return words.length * Long.BYTES;
  }

  void write(long address) {
    HostMemory.copyFromArray(address, words, words.length);
  }
}
