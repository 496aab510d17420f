// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

import io.millrace.device.HostMemory;
import io.millrace.format.text.TextCursor;

/**
 * Where the bytes of records go: they are counted, or written by words of eight bytes, which may
 * leave up to seven bytes of any value behind the last one. The twin of {@code text_sink.cuh}. Used
 * by one thread.
 */
final class TextSink {
  /** What becomes of bytes within a field of CSV. */
  private enum FieldPass {
    /** They are put as they are, as outside of fields. */
    PLAIN,
    /** They are counted, to see whether the field needs quotes. */
    MEASURE,
    /** Quotes are doubled. */
    QUOTED
  }

  private final char delimiter;
  private final boolean isWriting;
  private final long start;
  private long at;
  private FieldPass pass = FieldPass.PLAIN;
  private long fieldBytes;
  private long fieldQuotes;
  private boolean isSpecial;

  private TextSink(boolean isWriting, long start, char delimiter) {
    this.isWriting = isWriting;
    this.start = start;
    this.at = start;
    this.delimiter = delimiter;
  }

  /**
   * @param delimiter of fields of CSV
   */
  static TextSink counting(char delimiter) {
    return new TextSink(false, 0, delimiter);
  }

  /**
   * @param address where the first record goes
   * @param delimiter of fields of CSV
   */
  static TextSink writing(long address, char delimiter) {
    return new TextSink(true, address, delimiter);
  }

  /** Bytes that were put. */
  long bytes() {
    return at - start;
  }

  /** Puts up to eight bytes, the first one lowest; those above do not matter. */
  void put(long word, int count) {
    if (pass == FieldPass.PLAIN) {
      append(word, count);
    } else {
      putInField(word, count);
    }
  }

  void put(char ascii) {
    put(ascii, 1);
  }

  /** Puts text that is given as words. */
  void put(long[] words, int count) {
    for (int i = 0; i < count; i += Long.BYTES) {
      put(words[i / Long.BYTES], Math.min(Long.BYTES, count - i));
    }
  }

  private void append(long word, int count) {
    if (isWriting) {
      HostMemory.putLong(at, word);
    }
    at += count;
  }

  private void putInField(long word, int count) {
    long counted = TextCursor.notAscii(lowestBytes(count));
    long quotes = TextCursor.bytesEqual(word, '"') & counted;
    if (pass == FieldPass.MEASURE) {
      long special =
          TextCursor.bytesEqual(word, delimiter)
              | TextCursor.bytesEqual(word, '\n')
              | TextCursor.bytesEqual(word, '\r');
      fieldBytes += count;
      fieldQuotes += Long.bitCount(quotes);
      isSpecial |= (quotes | (special & counted)) != 0;
    } else if (quotes == 0) {
      append(word, count);
    } else {
      for (int i = 0; i < count; i++) {
        long next = word >>> (i * Byte.SIZE) & 0xff;
        append(next | next << Byte.SIZE, next == '"' ? 2 : 1);
      }
    }
  }

  /** A mask of the lowest bytes of a word. */
  static long lowestBytes(int count) {
    return count >= Long.BYTES ? -1 : (1L << (count * Byte.SIZE)) - 1;
  }

  /** Begins a field of CSV. */
  void beginField() {
    pass = FieldPass.MEASURE;
    fieldBytes = 0;
    fieldQuotes = 0;
    isSpecial = false;
  }

  /** Whether the field must be put once more, now that it is known whether it needs quotes. */
  boolean endField() {
    FieldPass ended = pass;
    pass = FieldPass.PLAIN;
    if (ended == FieldPass.QUOTED) {
      append('"', 1);
    }
    if (ended != FieldPass.MEASURE) {
      return false;
    }
    boolean needsQuotes = fieldBytes == 0 || isSpecial;
    if (!isWriting) {
      at += fieldBytes + (needsQuotes ? 2 + fieldQuotes : 0);
      return false;
    }
    if (needsQuotes) {
      append('"', 1);
      pass = FieldPass.QUOTED;
    }
    return true;
  }
}
